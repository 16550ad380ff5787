package gtagsmcp;

/**
 * Walks over the tokens of Java text. The parser's trees say where a declaration
 * starts and ends, but not where its name stands nor in which order its modifiers
 * were written; the text between two known places does.
 */
final class Scan {
    private final CharSequence text;
    private final int end;
    private int at;

    /** Where the last token starts. */
    int start;

    Scan(CharSequence text, int from, int end) {
        this.text = text;
        this.at = Math.max(from, 0);
        this.end = Math.min(end, text.length());
    }

    /** The next token: a whole word, or a single other character; "" at the end. */
    String next() {
        skipBlank();
        start = at;
        if (at >= end) {
            return "";
        }
        char c = text.charAt(at);
        if (c == '"' || c == '\'') {
            skipLiteral(c);
            return String.valueOf(c);
        }
        if (!isWord(at)) {
            at++;
            return String.valueOf(c);
        }
        StringBuilder word = new StringBuilder();
        while (at < end && isWord(at)) {
            word.append(character());
        }
        return word.toString();
    }

    /** Jumps over an annotation whose at sign was the last token. */
    void skipAnnotation() {
        next();
        int mark = at;
        String token = next();
        while (token.equals(".")) {
            next();
            mark = at;
            token = next();
        }
        if (!token.equals("(")) {
            at = mark;
            return;
        }
        for (int depth = 1; depth > 0 && !token.isEmpty(); ) {
            token = next();
            if (token.equals("(")) {
                depth++;
            } else if (token.equals(")")) {
                depth--;
            }
        }
    }

    private boolean isWord(int i) {
        char c = text.charAt(i);
        return Character.isJavaIdentifierPart(c) || Character.isSurrogate(c) || isEscape(i);
    }

    private boolean isEscape(int i) {
        return i + 5 < end && text.charAt(i) == '\\' && text.charAt(i + 1) == 'u';
    }

    /** The character here, which a Unicode escape may spell. */
    private char character() {
        if (!isEscape(at)) {
            return text.charAt(at++);
        }
        int digits = at + 1;
        while (digits < end && text.charAt(digits) == 'u') {
            digits++;
        }
        at = Math.min(digits + 4, end);
        try {
            return (char) Integer.parseInt(text.subSequence(digits, at).toString(), 16);
        } catch (NumberFormatException notAnEscape) {
            return '?';
        }
    }

    private void skipBlank() {
        while (at < end) {
            if (Character.isWhitespace(text.charAt(at))) {
                at++;
            } else if (looking("//")) {
                while (at < end && text.charAt(at) != '\n' && text.charAt(at) != '\r') {
                    at++;
                }
            } else if (looking("/*")) {
                at += 2;
                while (at < end && !looking("*/")) {
                    at++;
                }
                at = Math.min(at + 2, end);
            } else {
                return;
            }
        }
    }

    private void skipLiteral(char quote) {
        String close = looking("\"\"\"") ? "\"\"\"" : String.valueOf(quote);
        at += close.length();
        while (at < end && !looking(close)) {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        at = Math.min(at + close.length(), end);
    }

    private boolean looking(String what) {
        for (int i = 0; i < what.length(); i++) {
            if (at + i >= end || text.charAt(at + i) != what.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
