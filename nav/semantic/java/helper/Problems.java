package gtagsmcp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticListener;
import javax.tools.JavaFileObject;

/** Keeps the errors that the compiler reports: the first of each file, and their number. */
final class Problems implements DiagnosticListener<JavaFileObject> {
    private static final int KEPT = 10;

    private final Function<JavaFileObject, String> pathOf;
    private final Map<String, List<Map<String, Object>>> byPath = new LinkedHashMap<>();
    private final Map<String, Integer> counts = new HashMap<>();
    private final Set<String> syntax = new LinkedHashSet<>();
    int errors;

    /** Whether what is reported now comes from the parser. */
    boolean parsing;

    Problems(Function<JavaFileObject, String> pathOf) {
        this.pathOf = pathOf;
    }

    @Override
    public void report(Diagnostic<? extends JavaFileObject> d) {
        if (d.getKind() != Diagnostic.Kind.ERROR) {
            return;
        }
        errors++;
        String path = d.getSource() == null ? "" : pathOf.apply(d.getSource());
        if (parsing) {
            syntax.add(path);
        }
        counts.merge(path, 1, Integer::sum);
        List<Map<String, Object>> kept = byPath.computeIfAbsent(path, p -> new ArrayList<>());
        if (kept.size() < KEPT) {
            Map<String, Object> problem = new LinkedHashMap<>();
            problem.put("path", path);
            problem.put("line", Math.max(0, (int) d.getLineNumber()));
            problem.put("message", shorten(d.getMessage(Locale.ENGLISH)));
            kept.add(problem);
        }
    }

    /** The files in which the parser found errors. */
    List<String> syntax() {
        return new ArrayList<>(syntax);
    }

    int count(String path) {
        return counts.getOrDefault(path, 0);
    }

    List<Map<String, Object>> of(String path) {
        return byPath.getOrDefault(path, List.of());
    }

    List<Map<String, Object>> all() {
        List<Map<String, Object>> all = new ArrayList<>();
        for (List<Map<String, Object>> some : byPath.values()) {
            all.addAll(some.subList(0, Math.min(some.size(), KEPT)));
        }
        return all.subList(0, Math.min(all.size(), KEPT));
    }

    static String shorten(String message) {
        String line = String.valueOf(message).replaceAll("\\s+", " ").trim();
        return line.length() <= 300 ? line : line.substring(0, 300) + "…";
    }
}
