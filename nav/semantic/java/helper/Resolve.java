package gtagsmcp;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import com.sun.source.util.TreePath;
import com.sun.source.util.Trees;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.element.Element;
import javax.lang.model.element.TypeElement;
import javax.tools.FileObject;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;

/**
 * Answers what declarations mean: compiles the files that hold them, with the rest of the
 * module on the source path and its libraries on the class path.
 */
final class Resolve implements TaskListener {
    /** Ends a compilation whose further results nobody asked for. */
    private static final class Enough extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** A file whose types never get their turn must not make the whole project be compiled. */
    private static final int MAX_OTHERS = 300;

    private final JavaCompiler compiler;
    private final Map<?, ?> request;
    private final List<byte[]> contents;
    private final Path root;

    private final Set<String> asked = new HashSet<>(); // paths of the files of the request
    private final Set<String> read = new LinkedHashSet<>(); // paths of all source files
    private final Set<String> started = new HashSet<>(); // of asked, those with attributed types
    private final Problems problems = new Problems(this::pathOf);
    private int others; // types attributed that nobody asked for
    private int pending; // types asked for that are not yet attributed
    private long bytes;

    Resolve(JavaCompiler compiler, Map<?, ?> request, List<byte[]> contents) {
        this.compiler = compiler;
        this.request = request;
        this.contents = contents;
        this.root = Paths.get((String) request.get("root"));
    }

    Map<String, Object> answer() throws IOException {
        try (StandardJavaFileManager disk = compiler.getStandardFileManager(null, null, null)) {
            Sources sources = new Sources(disk, root, (Integer) request.get("maxBytes"));
            locations(disk);
            List<String> options = new ArrayList<>(Helper.PARSE_OPTIONS);
            // A syntax error in one file must not keep the others from being compiled.
            options.addAll(List.of("-Xprefer:source", "-XDshould-stop.ifError=FLOW", "-XDshould-stop.at=FLOW"));
            strings("options").forEach(options::add);
            JavacTask task = (JavacTask) compiler.getTask(null, sources, problems, options, null, files(disk));
            task.addTaskListener(this);
            return answer(task, sources);
        }
    }

    private Map<String, Object> answer(JavacTask task, Sources sources) throws IOException {
        Trees trees = Trees.instance(task);
        Map<String, List<Outline.Entry>> outlines = new HashMap<>();
        for (CompilationUnitTree unit : task.parse()) {
            List<Outline.Entry> flat = new ArrayList<>();
            flatten(Outline.of(unit, trees.getSourcePositions()), flat);
            outlines.put(unit.getSourceFile().getName(), flat);
            pending += (int) unit.getTypeDecls().stream().filter(t -> t instanceof ClassTree).count();
        }
        boolean bodies = (Boolean) request.get("bodies");
        // Looking up any type makes the compiler enter all files.
        task.getElements().getTypeElement("java.lang.Object");
        boolean analyzed = bodies && analyze(task);

        Facts facts = new Facts(task, this::place);
        List<Object> found = new ArrayList<>();
        for (Object target : (List<?>) request.get("targets")) {
            List<?> pair = (List<?>) target;
            String path = (String) ((Map<?, ?>) ((List<?>) request.get("files")).get((Integer) pair.get(0))).get("path");
            Outline.Entry entry = outlines.getOrDefault(path, List.of()).get((Integer) pair.get(1));
            Element element = trees.getElement(entry.path);
            String inherited = (String) request.get("inherited");
            if (inherited == null) {
                found.add(facts.of(element, entry));
            } else if (element instanceof TypeElement) {
                found.addAll(facts.inherited((TypeElement) element, inherited));
            }
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("found", found);
        answer.put("unbound", new ArrayList<>(facts.unbound));
        answer.put("analyzed", analyzed);
        answer.put("errors", problems.errors);
        answer.put("syntaxErrors", problems.syntax());
        answer.put("problems", problems.all());
        answer.put("filesRead", new ArrayList<>(read));
        answer.put("bytesRead", bytes);
        answer.put("refused", new ArrayList<>(sources.refused));
        return answer;
    }

    /** Attributes the bodies of the files asked for, and of few others. */
    private boolean analyze(JavacTask task) throws IOException {
        try {
            task.analyze();
        } catch (RuntimeException e) {
            if (!(e instanceof Enough) && !(e.getCause() instanceof Enough)) {
                throw e;
            }
        }
        return pending <= 0;
    }

    @Override
    public void finished(TaskEvent e) {
        if (e.getKind() != TaskEvent.Kind.PARSE) {
            return;
        }
        problems.parsing = false;
        if (e.getSourceFile() != null && read.add(pathOf(e.getSourceFile()))) {
            try {
                bytes += e.getSourceFile().getCharContent(true).length(); // kept since it was parsed
            } catch (IOException gone) {
                read.remove(pathOf(e.getSourceFile()));
            }
        }
    }

    /** Counts the types that get attributed; each is reported once, before its body is looked at. */
    @Override
    public void started(TaskEvent e) {
        problems.parsing = e.getKind() == TaskEvent.Kind.PARSE;
        if (e.getKind() != TaskEvent.Kind.ANALYZE || e.getTypeElement() == null) {
            return;
        }
        if (asked.contains(pathOf(e.getSourceFile()))) {
            if (started.add(e.getTypeElement().toString())) {
                pending--;
            }
        } else if (pending <= 0 || ++others > MAX_OTHERS) {
            throw new Enough();
        }
    }

    private List<Memory> files(StandardJavaFileManager disk) {
        List<Memory> files = new ArrayList<>();
        List<?> listed = (List<?>) request.get("files");
        for (int i = 0; i < listed.size(); i++) {
            String path = (String) ((Map<?, ?>) listed.get(i)).get("path");
            asked.add(path);
            files.add(new Memory(path, contents.get(i), disk.getJavaFileObjects(root.resolve(path)).iterator().next()));
        }
        return files;
    }

    private void locations(StandardJavaFileManager disk) throws IOException {
        disk.setLocation(StandardLocation.CLASS_PATH, paths("classPath"));
        // Else the class path counts, and a plugin found there could start itself.
        disk.setLocation(StandardLocation.ANNOTATION_PROCESSOR_PATH, List.of());
        String patched = (String) request.get("patch");
        if (patched == null) {
            disk.setLocation(StandardLocation.SOURCE_PATH, paths("sourcePath"));
            return;
        }
        disk.setLocation(StandardLocation.SOURCE_PATH, List.of());
        String roots = String.join(File.pathSeparator, strings("sourcePath"));
        disk.handleOption("--patch-module", List.of(patched + "=" + roots).iterator());
    }

    private List<File> paths(String key) {
        List<File> files = new ArrayList<>();
        strings(key).forEach(path -> files.add(new File(path)));
        return files;
    }

    private List<String> strings(String key) {
        List<String> out = new ArrayList<>();
        for (Object s : (List<?>) request.get(key)) {
            out.add((String) s);
        }
        return out;
    }

    /** The path below the root, as the server names files; the whole one elsewhere. */
    private String pathOf(FileObject file) {
        String name = file.getName();
        if (!asked.contains(name)) {
            Path path = Paths.get(name);
            if (path.startsWith(root)) {
                return root.relativize(path).toString().replace(File.separatorChar, '/');
            }
        }
        return name;
    }

    private String place(TreePath path) {
        return pathOf(path.getCompilationUnit().getSourceFile());
    }

    private static void flatten(List<Outline.Entry> entries, List<Outline.Entry> flat) {
        for (Outline.Entry entry : entries) {
            flat.add(entry);
            flatten(entry.members, flat);
        }
    }
}
