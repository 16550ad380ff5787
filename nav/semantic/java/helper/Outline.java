package gtagsmcp;

import com.sun.source.tree.AnnotatedTypeTree;
import com.sun.source.tree.ArrayTypeTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.ModuleTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.PackageTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/**
 * The declarations of one parsed file. Bodies of methods, initializers and enum
 * constants are not entered: what they declare is local or anonymous.
 */
final class Outline {
    /** A declaration and the tree that makes it. */
    static final class Entry {
        final Map<String, Object> declaration = new LinkedHashMap<>();
        final List<Entry> members = new ArrayList<>();
        TreePath path;
        int position;
    }

    private static final Set<String> CLASS_WORDS = Set.of("class", "interface", "enum", "record");
    private static final Set<String> MODIFIERS =
            Arrays.stream(Modifier.values()).map(Modifier::toString).collect(Collectors.toSet());

    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final CharSequence text;
    private final String packageName;

    private Outline(CompilationUnitTree unit, SourcePositions positions) throws IOException {
        this.unit = unit;
        this.positions = positions;
        this.text = unit.getSourceFile().getCharContent(true);
        PackageTree declared = unit.getPackage();
        this.packageName = declared == null ? "" : declared.getPackageName().toString();
    }

    /**
     * The declarations at the top of the file. Must be called before the trees are
     * entered, since the compiler then adds members that nobody wrote.
     */
    static List<Entry> of(CompilationUnitTree unit, SourcePositions positions) throws IOException {
        Outline outline = new Outline(unit, positions);
        List<Entry> top = new ArrayList<>();
        outline.packageAndModule(top);
        TreePath root = new TreePath(unit);
        for (Tree tree : unit.getTypeDecls()) {
            if (tree instanceof ClassTree) {
                outline.type(new TreePath(root, tree), outline.packageName, top);
            }
        }
        return top;
    }


    /** The entry of one member of a type, which the path names; null when nobody wrote it. */
    static Entry member(TreePath path, SourcePositions positions) throws IOException {
        Outline outline = new Outline(path.getCompilationUnit(), positions);
        TreePath top = path;
        while (!(top.getParentPath().getLeaf() instanceof CompilationUnitTree)) {
            top = top.getParentPath();
        }
        List<Entry> entries = new ArrayList<>();
        outline.type(top, outline.packageName, entries);
        return find(entries, path.getLeaf());
    }

    private static Entry find(List<Entry> entries, Tree tree) {
        for (Entry entry : entries) {
            Entry found = entry.path.getLeaf() == tree ? entry : find(entry.members, tree);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
    private void packageAndModule(List<Entry> out) {
        PackageTree declared = unit.getPackage();
        if (declared != null && unit.getSourceFile().getName().endsWith("package-info.java")) {
            TreePath path = new TreePath(new TreePath(unit), declared);
            Entry entry = entry(path, "package", packageName, "", start(declared.getPackageName()));
            entry.declaration.put("qualifiedName", packageName);
            out.add(entry);
        }
        // Only JDK 17 and newer offer the module by a method of its own.
        new TreeScanner<Void, Void>() {
            @Override
            public Void visitClass(ClassTree type, Void nothing) {
                return null;
            }

            @Override
            public Void visitModule(ModuleTree module, Void nothing) {
                String name = module.getName().toString();
                Entry entry = entry(new TreePath(new TreePath(unit), module), "module", name, "", start(module.getName()));
                entry.declaration.put("qualifiedName", name);
                if (module.getModuleType() == ModuleTree.ModuleKind.OPEN) {
                    entry.declaration.put("modifiers", List.of("open"));
                }
                out.add(entry);
                return null;
            }
        }.scan(unit, null);
    }

    /** Adds a type, or what a type without a name holds. */
    private void type(TreePath path, String container, List<Entry> out) {
        ClassTree type = (ClassTree) path.getLeaf();
        Scan scan = new Scan(text, afterModifiers(type.getModifiers(), type), end(type));
        String word = scan.next();
        while (!CLASS_WORDS.contains(word) && !word.isEmpty() && !word.equals("{")) {
            word = scan.next();
        }
        boolean named = CLASS_WORDS.contains(word) && scan.next().contentEquals(type.getSimpleName());
        if (!named) {
            // A file of methods alone, which newer JDKs wrap into a class, or a syntax error.
            members(path, container, out);
            return;
        }
        Entry entry = entry(path, kind(type), type.getSimpleName().toString(), container, scan.start);
        entry.declaration.put("modifiers", modifiers(type.getModifiers()));
        entry.declaration.put("signature", Signature.of(type));
        members(path, (String) entry.declaration.get("qualifiedName"), entry.members);
        out.add(entry);
    }

    private void members(TreePath path, String container, List<Entry> out) {
        ClassTree type = (ClassTree) path.getLeaf();
        int previousEnd = -1;
        for (Tree member : type.getMembers()) {
            TreePath memberPath = new TreePath(path, member);
            if (member instanceof ClassTree) {
                type(memberPath, container, out);
            } else if (member instanceof MethodTree) {
                method(memberPath, type, container, out);
            } else if (member instanceof VariableTree) {
                variable(memberPath, type, container, previousEnd, out);
            }
            previousEnd = end(member);
        }
        // The components of a record come first in the tree, whatever else does.
        out.sort(Comparator.comparingInt(e -> e.position));
    }

    private void method(TreePath path, ClassTree type, String container, List<Entry> out) {
        MethodTree method = (MethodTree) path.getLeaf();
        boolean constructor = method.getName().contentEquals("<init>");
        String name = (constructor ? type.getSimpleName() : method.getName()).toString();
        int from = afterModifiers(method.getModifiers(), method);
        if (!method.getTypeParameters().isEmpty()) {
            from = end(method.getTypeParameters().get(method.getTypeParameters().size() - 1));
        }
        if (method.getReturnType() != null) {
            from = afterElementType(method.getReturnType(), from);
        }
        Scan scan = new Scan(text, from, end(method));
        if (!find(scan, name)) {
            return;
        }
        int position = scan.start;
        boolean compact = constructor && kind(type).equals("record") && !scan.next().equals("(");
        String kind = constructor ? "constructor" : kind(type).equals("annotation") ? "annotationElement" : "method";
        Entry entry = entry(path, kind, name, container, position);
        entry.declaration.put("modifiers", modifiers(method.getModifiers()));
        entry.declaration.put("signature", compact ? "" : Signature.of(method));
        out.add(entry);
    }

    private void variable(TreePath path, ClassTree type, String container, int previousEnd, List<Entry> out) {
        VariableTree variable = (VariableTree) path.getLeaf();
        String name = variable.getName().toString();
        if (kind(type).equals("enum") && isConstant(variable)) {
            Entry entry = entry(path, "enumConstant", name, container, start(variable.getType()));
            out.add(entry);
            return;
        }
        int from = afterModifiers(variable.getModifiers(), variable);
        if (variable.getType() != null) {
            from = afterElementType(variable.getType(), from);
        }
        // In "int a = 1, b = 2;" both trees start at the one "int".
        Scan scan = new Scan(text, previousEnd > from ? previousEnd : from, end(variable));
        if (!find(scan, name)) {
            return;
        }
        boolean component = kind(type).equals("record")
                && !variable.getModifiers().getFlags().contains(Modifier.STATIC);
        Entry entry = entry(path, component ? "recordComponent" : "field", name, container, scan.start);
        entry.declaration.put("modifiers", component ? List.of() : modifiers(variable.getModifiers()));
        entry.declaration.put("signature", Signature.type(variable.getType()));
        out.add(entry);
    }

    /** Whether a variable of an enum is a constant: its "type" then stands at its name. */
    private boolean isConstant(VariableTree variable) {
        if (!(variable.getInitializer() instanceof NewClassTree) || variable.getType() == null) {
            return false;
        }
        Scan scan = new Scan(text, start(variable.getType()), text.length());
        if (!scan.next().contentEquals(variable.getName())) {
            return false;
        }
        String after = scan.next();
        return after.isEmpty() || !Character.isJavaIdentifierStart(after.charAt(0));
    }

    /** Moves to the next token that is the word, over annotations. */
    private static boolean find(Scan scan, String word) {
        for (String token = scan.next(); !token.isEmpty(); token = scan.next()) {
            if (token.equals(word)) {
                return true;
            }
            if (token.equals("@")) {
                scan.skipAnnotation();
            }
        }
        return false;
    }

    private Entry entry(TreePath path, String kind, String name, String container, int position) {
        Entry entry = new Entry();
        entry.path = path;
        entry.position = position;
        int line = line(position);
        Map<String, Object> d = entry.declaration;
        d.put("name", name);
        d.put("qualifiedName", container.isEmpty() ? name : container + "." + name);
        d.put("kind", kind);
        d.put("line", line);
        d.put("endLine", Math.max(line, line(end(path.getLeaf()) - 1)));
        d.put("modifiers", List.of());
        d.put("signature", "");
        d.put("container", container);
        return entry;
    }

    static String kind(ClassTree type) {
        switch (type.getKind().name()) {
            case "INTERFACE":
                return "interface";
            case "ENUM":
                return "enum";
            case "RECORD":
                return "record";
            case "ANNOTATION_TYPE":
                return "annotation";
            default:
                return "class";
        }
    }

    /** The modifiers in the order in which they were written. */
    private List<String> modifiers(ModifiersTree tree) {
        List<String> written = new ArrayList<>();
        Scan scan = new Scan(text, start(tree), end(tree));
        for (String token = scan.next(); !token.isEmpty(); token = scan.next()) {
            if (token.equals("@")) {
                scan.skipAnnotation();
            } else if (token.equals("non")) {
                scan.next();
                written.add("non-" + scan.next());
            } else if (MODIFIERS.contains(token)) {
                written.add(token);
            }
        }
        return written;
    }

    private int afterModifiers(ModifiersTree modifiers, Tree declaration) {
        return Math.max(end(modifiers), start(declaration));
    }

    /** Behind a type, but before the brackets that may stand on both sides of the name. */
    private int afterElementType(Tree type, int otherwise) {
        Tree element = type;
        while (true) {
            if (element instanceof ArrayTypeTree) {
                element = ((ArrayTypeTree) element).getType();
            } else if (element instanceof AnnotatedTypeTree
                    && ((AnnotatedTypeTree) element).getUnderlyingType() instanceof ArrayTypeTree) {
                element = ((AnnotatedTypeTree) element).getUnderlyingType();
            } else {
                return Math.max(end(element), otherwise);
            }
        }
    }

    private int start(Tree tree) {
        return (int) positions.getStartPosition(unit, tree);
    }

    private int end(Tree tree) {
        return (int) positions.getEndPosition(unit, tree);
    }

    private int line(int position) {
        return position < 0 ? 0 : (int) unit.getLineMap().getLineNumber(position);
    }
}
