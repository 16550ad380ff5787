package gtagsmcp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;

/**
 * The compiler's view of the disk: no source file from outside the project or beyond the size
 * limit, no code of the project's to run, nothing to write to.
 */
final class Sources extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final Path root;
    private final Path realRoot; // a link may lead to the project as a whole
    private final int maxBytes;
    final Set<String> refused = new LinkedHashSet<>();

    Sources(StandardJavaFileManager disk, Path root, int maxBytes) throws IOException {
        super(disk);
        this.root = root;
        this.realRoot = root.toRealPath();
        this.maxBytes = maxBytes;
    }

    @Override
    public Iterable<JavaFileObject> list(Location location, String packageName, Set<JavaFileObject.Kind> kinds, boolean recurse)
            throws IOException {
        Iterable<JavaFileObject> all = super.list(location, packageName, kinds, recurse);
        if (!kinds.contains(JavaFileObject.Kind.SOURCE)) {
            return all;
        }
        List<JavaFileObject> allowed = new ArrayList<>();
        for (JavaFileObject file : all) {
            if (file.getKind() != JavaFileObject.Kind.SOURCE) {
                allowed.add(file);
            } else if (readable(file)) {
                allowed.add(new Memory(file));
            }
        }
        return allowed;
    }

    private boolean readable(JavaFileObject file) throws IOException {
        Path path = fileManager.asPath(file);
        if (Files.isRegularFile(path) && path.toRealPath().startsWith(realRoot) && Files.size(path) <= maxBytes) {
            return true;
        }
        refused.add(path.startsWith(root) ? root.relativize(path).toString() : path.toString());
        return false;
    }

    @Override
    public JavaFileObject getJavaFileForInput(Location location, String name, JavaFileObject.Kind kind) throws IOException {
        JavaFileObject file = super.getJavaFileForInput(location, name, kind);
        if (file == null || kind != JavaFileObject.Kind.SOURCE) {
            return file;
        }
        return readable(file) ? new Memory(file) : null;
    }

    @Override
    public ClassLoader getClassLoader(Location location) {
        return ClassLoader.getPlatformClassLoader();
    }

    @Override
    public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject sibling)
            throws IOException {
        throw new IOException("nothing is written");
    }

    @Override
    public String inferBinaryName(Location location, JavaFileObject file) {
        return super.inferBinaryName(location, (JavaFileObject) onDisk(file));
    }

    @Override
    public boolean isSameFile(FileObject a, FileObject b) {
        return super.isSameFile(onDisk(a), onDisk(b));
    }

    @Override
    public boolean contains(Location location, FileObject file) throws IOException {
        return super.contains(location, onDisk(file));
    }

    @Override
    public Location getLocationForModule(Location location, JavaFileObject file) throws IOException {
        return super.getLocationForModule(location, (JavaFileObject) onDisk(file));
    }

    private static FileObject onDisk(FileObject file) {
        return file instanceof Memory ? ((Memory) file).disk : file;
    }
}
