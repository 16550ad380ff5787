package gtagsmcp;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;

/** A source file whose bytes came with the request. */
final class Memory extends SimpleJavaFileObject {
    /** Relative to the root of the project, as the server names it. */
    final String path;

    /** The file on disk that these bytes stand for, or null. */
    final JavaFileObject disk;

    private final String text;

    Memory(String path, byte[] content, JavaFileObject disk) {
        super(disk != null ? disk.toUri() : URI.create("memory:///" + path.hashCode() + "/" + asciiName(path)), Kind.SOURCE);
        this.path = path;
        this.disk = disk;
        this.text = decode(content);
    }

    @Override
    public String getName() {
        return path;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
    }

    @Override
    public boolean isNameCompatible(String simpleName, Kind kind) {
        return kind == Kind.SOURCE && path.substring(path.lastIndexOf('/') + 1).equals(simpleName + kind.extension);
    }

    /** UTF-8, else Latin-1, in which every file can be read and ASCII means the same. */
    private static String decode(byte[] content) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
        } catch (CharacterCodingException notUtf8) {
            return new String(content, StandardCharsets.ISO_8859_1);
        }
    }

    private static String asciiName(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return name.replaceAll("[^A-Za-z0-9._$-]", "_");
    }
}
