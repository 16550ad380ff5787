package gtagsmcp;

import com.sun.source.tree.ClassTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** What the compiler knows about a declaration beyond its text. */
final class Facts {
    private final Elements elements;
    private final Types types;
    private final Trees trees;
    private final Function<TreePath, String> placeOf;

    /** Names of types that could not be bound, as they are written. */
    final Set<String> unbound = new LinkedHashSet<>();

    private final TypeNames names = new TypeNames(unbound);

    Facts(JavacTask task, Function<TreePath, String> placeOf) {
        this.elements = task.getElements();
        this.types = task.getTypes();
        this.trees = Trees.instance(task);
        this.placeOf = placeOf;
    }

    /** The declaration with its facts; without any when the compiler made nothing of it. */
    Map<String, Object> of(Element element, Outline.Entry entry) {
        Map<String, Object> declaration = new LinkedHashMap<>(entry.declaration);
        declaration.put("path", placeOf.apply(entry.path));
        if (element != null) {
            addModifiers(declaration, element);
            declaration.put("facts", facts(element));
        }
        return declaration;
    }

    /** The members of that name which the type has from its supertypes. */
    List<Object> inherited(TypeElement type, String name) throws IOException {
        List<Object> found = new ArrayList<>();
        for (Element member : elements.getAllMembers(type)) {
            if (!member.getSimpleName().contentEquals(name) || member.getEnclosingElement() == type
                    || member.getKind() == ElementKind.CONSTRUCTOR) {
                continue;
            }
            Map<String, Object> declaration = declared(member);
            @SuppressWarnings("unchecked")
            Map<String, Object> facts = (Map<String, Object>) declaration.get("facts");
            facts.put("promotedFrom", names.of(types.erasure(member.getEnclosingElement().asType())));
            found.add(declaration);
        }
        return found;
    }

    /** The declaration of any element, with its place when its source was read. */
    private Map<String, Object> declared(Element member) throws IOException {
        TreePath path = trees.getPath(member);
        if (path != null && path.getParentPath().getLeaf() instanceof ClassTree) {
            Outline.Entry entry = Outline.member(path, trees.getSourcePositions());
            if (entry != null) {
                return of(member, entry);
            }
        }
        String container = names.of(types.erasure(member.getEnclosingElement().asType()));
        Map<String, Object> declaration = new LinkedHashMap<>();
        declaration.put("name", member.getSimpleName().toString());
        declaration.put("qualifiedName", container + "." + member.getSimpleName());
        declaration.put("kind", kind(member));
        declaration.put("path", "");
        declaration.put("modifiers", List.of());
        declaration.put("signature", names.signature(member.asType()));
        declaration.put("container", container);
        addModifiers(declaration, member);
        declaration.put("facts", facts(member));
        return declaration;
    }

    /** Adds those that the language implies behind those that are written. */
    private static void addModifiers(Map<String, Object> declaration, Element element) {
        Set<String> all = new LinkedHashSet<>();
        for (Object written : (List<?>) declaration.get("modifiers")) {
            all.add((String) written);
        }
        element.getModifiers().stream().map(Modifier::toString).forEach(all::add);
        declaration.put("modifiers", new ArrayList<>(all));
    }

    private Map<String, Object> facts(Element element) {
        Map<String, Object> facts = new LinkedHashMap<>();
        TypeMirror type = element.asType();
        boolean typed = !List.of("PACKAGE", "MODULE").contains(element.getKind().name());
        facts.put("erasedType", typed ? names.of(types.erasure(type)) : "");
        facts.put("genericType", typed ? names.of(type) : "");
        facts.put("supertypes", element instanceof TypeElement ? supertypes((TypeElement) element) : List.of());
        List<String> overrides = new ArrayList<>();
        List<String> implemented = new ArrayList<>();
        if (element.getKind() == ElementKind.METHOD) {
            overridden((ExecutableElement) element, overrides, implemented);
        }
        facts.put("overrides", overrides);
        facts.put("implements", implemented);
        facts.put("annotations", element.getAnnotationMirrors().stream().map(this::annotation).collect(Collectors.toList()));
        if (element instanceof ExecutableElement) {
            ((ExecutableElement) element).getThrownTypes().forEach(names::of);
        }
        return facts;
    }

    private List<String> supertypes(TypeElement type) {
        List<String> out = new ArrayList<>();
        if (type.getSuperclass().getKind() != TypeKind.NONE) {
            out.add(names.of(type.getSuperclass()));
        }
        type.getInterfaces().forEach(i -> out.add(names.of(i)));
        return out;
    }

    /** Looks for the methods that one overrides in all supertypes, near ones first. */
    private void overridden(ExecutableElement method, List<String> overrides, List<String> implemented) {
        if (!method.getParameters().stream().allMatch(p -> TypeNames.isBound(p.asType()))) {
            return; // to the compiler a type that it cannot bind fits every other
        }
        TypeElement type = (TypeElement) method.getEnclosingElement();
        Set<TypeElement> seen = new LinkedHashSet<>(List.of(type));
        List<TypeElement> queue = new ArrayList<>(seen);
        for (int i = 0; i < queue.size(); i++) {
            for (TypeMirror up : types.directSupertypes(queue.get(i).asType())) {
                names.of(up);
                if (up.getKind() == TypeKind.DECLARED && seen.add((TypeElement) ((DeclaredType) up).asElement())) {
                    queue.add((TypeElement) ((DeclaredType) up).asElement());
                }
            }
        }
        for (TypeElement up : queue.subList(1, queue.size())) {
            for (Element other : up.getEnclosedElements()) {
                if (other.getKind() == ElementKind.METHOD && other.getSimpleName().equals(method.getSimpleName())
                        && elements.overrides(method, (ExecutableElement) other, type)) {
                    (up.getKind().isInterface() ? implemented : overrides).add(member((ExecutableElement) other));
                }
            }
        }
    }

    private String member(ExecutableElement method) {
        return names.of(types.erasure(method.getEnclosingElement().asType())) + "." + method.getSimpleName()
                + method.getParameters().stream().map(p -> names.of(types.erasure(p.asType())))
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    private String annotation(AnnotationMirror annotation) {
        names.of(annotation.getAnnotationType());
        return annotation.toString();
    }

    private static String kind(Element element) {
        switch (element.getKind().name()) {
            case "ENUM_CONSTANT":
                return "enumConstant";
            case "RECORD_COMPONENT":
                return "recordComponent";
            case "ANNOTATION_TYPE":
                return "annotation";
            default:
                return element.getKind().name().toLowerCase(java.util.Locale.ROOT);
        }
    }
}
