package gtagsmcp;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Answers questions about Java sources with the compiler of the JDK that runs it.
 *
 * <p>One request is one line of JSON on standard input, followed by the bytes of the
 * files that it lists; one answer is one line of JSON on standard output. The end of
 * standard input ends the program. It writes no file, opens no connection, and runs no
 * annotation processor or plugin.
 */
public final class Helper {
    /** For every compilation: nothing of the project's runs, nothing is written. */
    static final List<String> PARSE_OPTIONS = List.of("-proc:none", "-implicit:none", "-nowarn", "-Xmaxerrs", "1000");

    /** Deeply nested expressions take a deep stack; memory for it is used only when needed. */
    private static final long STACK_BYTES = 64L << 20;

    private static final int MAX_REQUEST_LINE = 16 << 20;

    private final InputStream in;
    private final OutputStream out;
    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    private final Parse parse = new Parse(compiler);

    private Helper(InputStream in, OutputStream out) {
        this.in = in;
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        OutputStream out = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.err), true));
        Helper helper = new Helper(new BufferedInputStream(System.in, 1 << 16), out);
        Thread worker = new Thread(null, helper::serve, "serve", STACK_BYTES);
        worker.start();
        worker.join();
    }

    private void serve() {
        try {
            List<String> modules = new ArrayList<>();
            ModuleFinder.ofSystem().findAll().forEach(m -> modules.add(m.descriptor().name()));
            reply(Map.of("hello", System.getProperty("java.version"), "modules", modules));
            for (String line = readLine(); line != null; line = readLine()) {
                Map<?, ?> request = Json.readObject(line);
                reply(answer(request, readFiles(request)));
            }
        } catch (IOException | RuntimeException lost) {
            // Who comes next in the stream cannot be told: the server starts another.
            lost.printStackTrace();
            System.exit(1);
        }
    }

    private Map<String, Object> answer(Map<?, ?> request, List<byte[]> contents) throws IOException {
        List<?> listed = (List<?>) request.get("files");
        try {
            if (request.get("op").equals("parse")) {
                List<Memory> sources = new ArrayList<>();
                for (int i = 0; i < listed.size(); i++) {
                    sources.add(new Memory((String) ((Map<?, ?>) listed.get(i)).get("path"), contents.get(i), null));
                }
                return parse.answer(sources);
            }
            return new Resolve(compiler, request, contents).answer();
        } catch (RuntimeException | StackOverflowError broke) {
            broke.printStackTrace();
            return Map.of("error", Problems.shorten(broke.toString()));
        }
    }

    private List<byte[]> readFiles(Map<?, ?> request) throws IOException {
        List<byte[]> contents = new ArrayList<>();
        for (Object file : (List<?>) request.get("files")) {
            int size = (Integer) ((Map<?, ?>) file).get("size");
            byte[] content = in.readNBytes(size);
            if (content.length != size) {
                throw new EOFException("a request ends in the middle of a file");
            }
            contents.add(content);
        }
        return contents;
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                return null;
            }
            if (line.size() == MAX_REQUEST_LINE) {
                throw new IOException("a request of more than " + MAX_REQUEST_LINE + " bytes");
            }
            line.write(b);
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private void reply(Map<String, Object> answer) throws IOException {
        StringBuilder line = new StringBuilder();
        Json.write(line, new LinkedHashMap<>(answer));
        out.write(line.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }
}
