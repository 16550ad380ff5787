import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.tools.javac.code.Flags;
import com.sun.tools.javac.tree.EndPosTable;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.TreeInfo;
import com.sun.tools.javac.tree.TreeScanner;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A second opinion on what files declare: reads paths on standard input and prints "file PATH",
 * then a line for each declaration. It shares nothing with the helper, which works from the
 * compiler's public trees and the text: this walks the compiler's own nodes with their flags and
 * positions.
 */
public final class SecondOpinion extends TreeScanner {
    private final JCTree.JCCompilationUnit unit;
    private final EndPosTable ends;
    private final PrintStream out;
    private final String text;
    private String container;
    private JCTree.JCClassDecl type;

    private SecondOpinion(JCTree.JCCompilationUnit unit, PrintStream out) throws Exception {
        this.unit = unit;
        this.ends = unit.endPositions;
        this.out = out;
        this.text = unit.sourcefile.getCharContent(true).toString();
        this.container = unit.getPackage() == null ? "" : unit.getPackage().pid.toString();
    }

    public static void main(String[] args) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String path = in.readLine(); path != null; path = in.readLine()) {
            JavacTask task = (JavacTask) compiler.getTask(null, files, null,
                    List.of("-proc:none", "-encoding", "UTF-8"), null, files.getJavaFileObjects(new File(path)));
            out.println("file " + path);
            for (CompilationUnitTree unit : task.parse()) {
                ((JCTree.JCCompilationUnit) unit).accept(new SecondOpinion((JCTree.JCCompilationUnit) unit, out));
            }
        }
        out.flush();
    }

    @Override
    public void visitPackageDef(JCTree.JCPackageDecl tree) {
        if (new File(unit.sourcefile.getName()).getName().equals("package-info.java")) {
            out.println("package " + tree.pid + " " + line(TreeInfo.getStartPos(tree.pid)) + "-" + last(tree) + " [] ");
        }
    }

    @Override
    public void visitModuleDef(JCTree.JCModuleDecl tree) {
        String open = tree.getModuleType().name().equals("OPEN") ? "open" : "";
        out.println("module " + tree.qualId + " " + line(TreeInfo.getStartPos(tree.qualId)) + "-" + last(tree) + " [" + open + "] ");
    }

    @Override
    public void visitClassDef(JCTree.JCClassDecl tree) {
        long f = tree.mods.flags;
        String kind = (f & Flags.ANNOTATION) != 0 ? "annotation" : (f & Flags.INTERFACE) != 0 ? "interface"
                : (f & Flags.ENUM) != 0 ? "enum" : (f & Flags.RECORD) != 0 ? "record" : "class";
        int name = text.indexOf(tree.name.toString(), keyword(tree, kind));
        String saved = container;
        JCTree.JCClassDecl outer = type;
        print(tree, kind, tree.name.toString(), name, f, header(tree));
        container = container.isEmpty() ? tree.name.toString() : container + "." + tree.name;
        type = tree;
        // In the order of the text: the components of a record come first in any case.
        List<JCTree> members = tree.defs.stream().collect(Collectors.toList());
        members.forEach(this::scan);
        container = saved;
        type = outer;
    }

    private static String header(JCTree.JCClassDecl tree) {
        StringBuilder h = new StringBuilder(tree.typarams.isEmpty() ? "" : "<" + tree.typarams.toString(", ") + ">");
        if ((tree.mods.flags & Flags.RECORD) != 0) {
            h.append(tree.defs.stream().filter(d -> d instanceof JCTree.JCVariableDecl).map(d -> (JCTree.JCVariableDecl) d)
                    .filter(d -> (d.mods.flags & Flags.GENERATED_MEMBER) != 0).map(SecondOpinion::parameter)
                    .collect(Collectors.joining(", ", "(", ")")));
        }
        if (tree.extending != null) {
            h.append(" extends ").append(tree.extending);
        }
        if (!tree.implementing.isEmpty()) {
            h.append((tree.mods.flags & Flags.INTERFACE) != 0 ? " extends " : " implements ").append(tree.implementing.toString(", "));
        }
        if (!tree.permitting.isEmpty()) {
            h.append(" permits ").append(tree.permitting.toString(", "));
        }
        return h.toString().trim();
    }

    /** Behind the keyword of a type: its position is that of the keyword or of its modifiers. */
    private int keyword(JCTree.JCClassDecl tree, String kind) {
        int at = Math.max(TreeInfo.endPos(tree.mods), tree.pos);
        if (ends.getEndPos(tree.mods) > at) {
            at = ends.getEndPos(tree.mods);
        }
        String word = kind.equals("annotation") ? "interface" : kind;
        return text.indexOf(word, at) + word.length();
    }

    @Override
    public void visitMethodDef(JCTree.JCMethodDecl tree) {
        boolean constructor = tree.name.contentEquals("<init>");
        String kind = constructor ? "constructor" : (type.mods.flags & Flags.ANNOTATION) != 0 ? "annotationElement" : "method";
        String signature = "";
        if ((tree.mods.flags & Flags.COMPACT_RECORD_CONSTRUCTOR) == 0) {
            signature = (tree.typarams.isEmpty() ? "" : "<" + tree.typarams.toString(", ") + ">")
                    + tree.params.stream().map(SecondOpinion::parameter).collect(Collectors.joining(", ", "(", ")"))
                    + (tree.restype == null ? "" : ": " + tree.restype)
                    + (tree.thrown.isEmpty() ? "" : " throws " + tree.thrown.toString(", "));
        }
        print(tree, kind, constructor ? type.name.toString() : tree.name.toString(), tree.pos, tree.mods.flags, signature);
    }

    private static String parameter(JCTree.JCVariableDecl p) {
        String written = p.vartype.toString();
        if ((p.mods.flags & Flags.VARARGS) != 0) {
            written = ((JCTree.JCArrayTypeTree) p.vartype).elemtype + "...";
        }
        return written + " " + p.name;
    }

    @Override
    public void visitVarDef(JCTree.JCVariableDecl tree) {
        long f = tree.mods.flags;
        if ((f & Flags.ENUM) != 0) {
            // The node of a constant with annotations stands at the first of them, its type at the name.
            print(tree, "enumConstant", tree.name.toString(), tree.vartype.pos, 0, "");
        } else if ((f & Flags.GENERATED_MEMBER) != 0 && (f & Flags.RECORD) != 0) {
            print(tree, "recordComponent", tree.name.toString(), tree.pos, 0, tree.vartype.toString());
        } else {
            print(tree, "field", tree.name.toString(), tree.pos, f, tree.vartype.toString());
        }
    }

    @Override
    public void visitBlock(JCTree.JCBlock tree) {
        // What is declared in here is local.
    }

    private void print(JCTree tree, String kind, String name, int position, long flags, String signature) {
        String modifiers = Flags.asModifierSet(flags & Flags.ExtendedStandardFlags).stream()
                .map(Object::toString).sorted().collect(Collectors.joining(" "));
        if (kind.equals("interface") || kind.equals("annotation")) {
            modifiers = modifiers.replace("abstract", "").replace("  ", " ").trim();
        }
        out.println(kind + " " + (container.isEmpty() ? "" : container + ".") + name + " " + line(position) + "-" + last(tree)
                + " [" + modifiers + "] " + signature.replaceAll("\\s+", " "));
    }

    private long line(int position) {
        return unit.lineMap.getLineNumber(position);
    }

    private long last(JCTree tree) {
        return line(ends.getEndPos(tree) - 1);
    }
}
