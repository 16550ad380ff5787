package gtagsmcp;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;

/** A source file: one whose bytes came with the request, or one that is read when it is needed. */
final class Memory extends SimpleJavaFileObject {
    /** What the compiler calls the file: relative to the root when it came with the request. */
    final String path;

    /** The file on disk that stands behind it, or null. */
    final JavaFileObject disk;

    private CharSequence text;

    Memory(String path, byte[] content, JavaFileObject disk) {
        super(disk != null ? disk.toUri() : URI.create("memory:///" + path.hashCode() + "/" + asciiName(path)), Kind.SOURCE);
        this.path = path;
        this.disk = disk;
        this.text = SourceText.of(content);
    }

    Memory(JavaFileObject disk) {
        super(disk.toUri(), Kind.SOURCE);
        this.path = disk.getName();
        this.disk = disk;
    }

    @Override
    public String getName() {
        return path;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) throws IOException {
        if (text == null) {
            text = SourceText.of(Files.readAllBytes(Paths.get(path)));
        }
        return text;
    }

    @Override
    public long getLastModified() {
        return disk == null ? 0 : disk.getLastModified();
    }

    @Override
    public boolean isNameCompatible(String simpleName, Kind kind) {
        return kind == Kind.SOURCE && path.substring(path.lastIndexOf('/') + 1).equals(simpleName + kind.extension);
    }

    private static String asciiName(String path) {
        return path.substring(path.lastIndexOf('/') + 1).replaceAll("[^A-Za-z0-9._$-]", "_");
    }
}
