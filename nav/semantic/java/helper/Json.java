package gtagsmcp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * As much JSON as the protocol needs. Requests come from our own server, so that
 * the reader may be short; it takes objects, arrays, strings, integers, booleans
 * and null.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Map<?, ?> readObject(String line) {
        Json json = new Json(line);
        Map<?, ?> object = (Map<?, ?>) json.value();
        json.blank();
        if (json.at != line.length()) {
            throw json.bad();
        }
        return object;
    }

    private Object value() {
        blank();
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            default:
                return word();
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        for (boolean more = open('}'); more; more = next('}')) {
            blank();
            String name = string();
            blank();
            expect(':');
            members.put(name, value());
        }
        return members;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        for (boolean more = open(']'); more; more = next(']')) {
            elements.add(value());
        }
        return elements;
    }

    private boolean open(char close) {
        at++;
        blank();
        if (peek() != close) {
            return true;
        }
        at++;
        return false;
    }

    private boolean next(char close) {
        blank();
        if (peek() == ',') {
            at++;
            return true;
        }
        expect(close);
        return false;
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (peek() != '"') {
            char c = text.charAt(at++);
            out.append(c == '\\' ? escape() : c);
        }
        at++;
        return out.toString();
    }

    private char escape() {
        char c = peek();
        at++;
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    private Object word() {
        int start = at;
        while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(start, at);
        switch (word) {
            case "true":
                return true;
            case "false":
                return false;
            case "null":
                return null;
            default:
                return Integer.valueOf(word);
        }
    }

    private void blank() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw bad();
        }
        return text.charAt(at);
    }

    private void expect(char c) {
        if (peek() != c) {
            throw bad();
        }
        at++;
    }

    private IllegalArgumentException bad() {
        return new IllegalArgumentException("the request is not JSON at character " + at);
    }

    /** Appends maps, lists, strings, numbers, booleans and null. */
    static void write(StringBuilder out, Object value) {
        if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                quote(out, (String) member.getKey());
                out.append(':');
                write(out, member.getValue());
                separator = ",";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof List) {
            String separator = "[";
            for (Object element : (List<?>) value) {
                out.append(separator);
                write(out, element);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value instanceof String) {
            quote(out, (String) value);
        } else {
            out.append(value);
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c) || c > '~') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
