package gtagsmcp;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ErrorType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.IntersectionType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.type.TypeVariable;
import javax.lang.model.type.WildcardType;
import javax.lang.model.util.SimpleTypeVisitor9;

/** Writes types with qualified names and without type annotations, and notes those that are not bound. */
final class TypeNames extends SimpleTypeVisitor9<String, Void> {
    private final Set<String> unbound;

    TypeNames(Set<String> unbound) {
        this.unbound = unbound;
    }

    static boolean isBound(TypeMirror type) {
        Set<String> unbound = new HashSet<>();
        new TypeNames(unbound).of(type);
        return unbound.isEmpty();
    }

    String of(TypeMirror type) {
        return type.accept(this, null);
    }

    /** A type as the signature of a declaration shows it: "(int, T): T". */
    String signature(TypeMirror type) {
        if (!(type instanceof ExecutableType)) {
            return of(type);
        }
        ExecutableType method = (ExecutableType) type;
        return typeVariables(method.getTypeVariables()) + list(method.getParameterTypes(), ", ", "(", ")") + ": "
                + of(method.getReturnType());
    }

    @Override
    protected String defaultAction(TypeMirror type, Void nothing) {
        return type.getKind().isPrimitive() || type.getKind() == TypeKind.VOID
                ? type.getKind().name().toLowerCase(java.util.Locale.ROOT)
                : type.toString();
    }

    @Override
    public String visitDeclared(DeclaredType type, Void nothing) {
        TypeElement element = (TypeElement) type.asElement();
        TypeMirror outer = type.getEnclosingType();
        String name = outer.getKind() == TypeKind.DECLARED && !((DeclaredType) outer).getTypeArguments().isEmpty()
                ? of(outer) + "." + element.getSimpleName()
                : element.getQualifiedName().toString();
        List<? extends TypeMirror> arguments = type.getTypeArguments();
        return arguments.isEmpty() ? name : name + list(arguments, ", ", "<", ">");
    }

    @Override
    public String visitError(ErrorType type, Void nothing) {
        String name = type.toString();
        unbound.add(name);
        return name;
    }

    @Override
    public String visitArray(ArrayType type, Void nothing) {
        return of(type.getComponentType()) + "[]";
    }

    @Override
    public String visitTypeVariable(TypeVariable type, Void nothing) {
        return type.asElement().getSimpleName().toString();
    }

    @Override
    public String visitWildcard(WildcardType type, Void nothing) {
        if (type.getExtendsBound() != null) {
            return "? extends " + of(type.getExtendsBound());
        }
        return type.getSuperBound() != null ? "? super " + of(type.getSuperBound()) : "?";
    }

    @Override
    public String visitIntersection(IntersectionType type, Void nothing) {
        return list(type.getBounds(), " & ", "", "");
    }

    @Override
    public String visitExecutable(ExecutableType type, Void nothing) {
        return typeVariables(type.getTypeVariables()) + list(type.getParameterTypes(), ", ", "(", ")") + of(type.getReturnType());
    }

    private String typeVariables(List<? extends TypeVariable> variables) {
        return variables.isEmpty() ? "" : variables.stream().map(this::variable).collect(Collectors.joining(", ", "<", ">"));
    }

    /** A type variable where it is declared: with its bound. */
    private String variable(TypeVariable variable) {
        String bound = of(variable.getUpperBound());
        return bound.equals("java.lang.Object") ? of(variable) : of(variable) + " extends " + bound;
    }

    private String list(List<? extends TypeMirror> types, String separator, String open, String close) {
        return types.stream().map(this::of).collect(Collectors.joining(separator, open, close));
    }
}
