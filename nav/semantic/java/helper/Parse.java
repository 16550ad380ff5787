package gtagsmcp;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;

/** Answers what files declare, each file by itself, from the parser alone. */
final class Parse {
    private final JavaCompiler compiler;
    private final StandardJavaFileManager files;

    Parse(JavaCompiler compiler) {
        this.compiler = compiler;
        this.files = compiler.getStandardFileManager(null, null, null);
    }

    Map<String, Object> answer(List<Memory> sources) {
        List<Object> parsed = new ArrayList<>();
        try {
            parsed.addAll(together(sources));
        } catch (IOException | RuntimeException | StackOverflowError broke) {
            // One file breaks the parser for all that are read with it.
            for (Memory source : sources) {
                parsed.add(alone(source));
            }
        }
        return Map.of("files", parsed);
    }

    private Map<String, Object> alone(Memory source) {
        try {
            return together(List.of(source)).get(0);
        } catch (IOException | RuntimeException | StackOverflowError broke) {
            Map<String, Object> file = new LinkedHashMap<>();
            file.put("declarations", List.of());
            file.put("errors", 1);
            file.put("problems", List.of(Map.of(
                    "path", source.path, "line", 0, "message", "the JDK's parser gave up: " + Problems.shorten(broke.toString()))));
            return file;
        }
    }

    private List<Map<String, Object>> together(List<Memory> sources) throws IOException {
        Problems problems = new Problems(FileObject::getName);
        JavacTask task = (JavacTask) compiler.getTask(null, files, problems, Helper.PARSE_OPTIONS, null, sources);
        SourcePositions positions = Trees.instance(task).getSourcePositions();
        List<Map<String, Object>> parsed = new ArrayList<>();
        for (CompilationUnitTree unit : task.parse()) {
            String path = unit.getSourceFile().getName();
            Map<String, Object> file = new LinkedHashMap<>();
            file.put("declarations", json(Outline.of(unit, positions)));
            file.put("errors", problems.count(path));
            file.put("problems", problems.of(path));
            parsed.add(file);
        }
        return parsed;
    }

    private static List<Object> json(List<Outline.Entry> entries) {
        List<Object> out = new ArrayList<>();
        for (Outline.Entry entry : entries) {
            if (!entry.members.isEmpty()) {
                entry.declaration.put("children", json(entry.members));
            }
            out.add(entry.declaration);
        }
        return out;
    }
}
