package gtagsmcp;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import com.sun.source.tree.VariableTree;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/** What follows the name of a declaration, on one line. */
final class Signature {
    private static final Pattern BLANK = Pattern.compile("\\s+");

    /** JDK 11 writes "@A()" for "@A". */
    private static final Pattern NO_ARGUMENTS = Pattern.compile("(@[\\w.$]+)\\(\\)");

    private Signature() {}

    static String of(ClassTree type) {
        StringBuilder out = new StringBuilder(typeParameters(type.getTypeParameters()));
        List<VariableTree> components = new ArrayList<>();
        if (Outline.kind(type).equals("record")) {
            for (Tree member : type.getMembers()) {
                if (member instanceof VariableTree
                        && !((VariableTree) member).getModifiers().getFlags().contains(Modifier.STATIC)) {
                    components.add((VariableTree) member);
                }
            }
            out.append(parameters(components));
        }
        if (type.getExtendsClause() != null) {
            out.append(" extends ").append(type(type.getExtendsClause()));
        }
        boolean isInterface = Outline.kind(type).equals("interface");
        out.append(clause(isInterface ? " extends " : " implements ", type.getImplementsClause()));
        out.append(clause(" permits ", permitted(type)));
        return known(out.toString().trim());
    }

    static String of(MethodTree method) {
        StringBuilder out = new StringBuilder(typeParameters(method.getTypeParameters()));
        out.append(parameters(method.getParameters()));
        if (method.getReturnType() != null) {
            out.append(": ").append(type(method.getReturnType()));
        }
        return known(out.append(clause(" throws ", method.getThrows())).toString());
    }

    /** Nothing when a syntax error lies in it. */
    private static String known(String signature) {
        return signature.contains("(ERROR)") || signature.contains("<error>") ? "" : signature;
    }

    static String type(Tree type) {
        return type == null ? "" : NO_ARGUMENTS.matcher(BLANK.matcher(type.toString()).replaceAll(" ")).replaceAll("$1");
    }

    private static String parameters(List<? extends VariableTree> parameters) {
        return parameters.stream().map(Signature::parameter).collect(Collectors.joining(", ", "(", ")"));
    }

    /** A parameter with its name. Only the printed tree shows that it takes many. */
    private static String parameter(VariableTree parameter) {
        String type = type(parameter.getType());
        if (type.endsWith("[]") && type(parameter).endsWith("... " + parameter.getName())) {
            type = type.substring(0, type.length() - 2) + "...";
        }
        return type + " " + parameter.getName();
    }

    private static String typeParameters(List<? extends TypeParameterTree> parameters) {
        if (parameters.isEmpty()) {
            return "";
        }
        return parameters.stream().map(Signature::type).collect(Collectors.joining(", ", "<", ">"));
    }

    private static String clause(String word, List<? extends Tree> types) {
        if (types.isEmpty()) {
            return "";
        }
        return types.stream().map(Signature::type).collect(Collectors.joining(", ", word, ""));
    }

    /** The permits clause, which the oldest JDK served does not know. */
    @SuppressWarnings("unchecked")
    private static List<? extends Tree> permitted(ClassTree type) {
        try {
            return (List<? extends Tree>) ClassTree.class.getMethod("getPermitsClause").invoke(type);
        } catch (ReflectiveOperationException older) {
            return List.of();
        }
    }
}
