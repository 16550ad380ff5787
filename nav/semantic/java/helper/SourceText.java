package gtagsmcp;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Turns the bytes of a source file into what the compiler reads. */
final class SourceText {
    private SourceText() {}

    /**
     * UTF-8, else Latin-1, in which every file can be read and ASCII means the same; without
     * documentation, on which the compiler spends most of its time and of which nothing is asked.
     */
    static CharSequence of(byte[] content) {
        CharBuffer text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content));
        } catch (CharacterCodingException notUtf8) {
            text = StandardCharsets.ISO_8859_1.decode(ByteBuffer.wrap(content));
        }
        char[] chars = new char[text.length()];
        text.get(chars);
        undocument(chars);
        return new String(chars);
    }

    /** Makes documentation an ordinary comment, so that every place stays what it was. */
    private static void undocument(char[] text) {
        for (int i = 0; i < text.length; i++) {
            switch (text[i]) {
                case '"':
                    i = startsWith(text, i, "\"\"\"") ? behind(text, i + 3, "\"\"\"") : behindLiteral(text, i);
                    break;
                case '\'':
                    i = behindLiteral(text, i);
                    break;
                case '/':
                    if (startsWith(text, i, "//")) {
                        // JDK 23 and newer take three slashes for documentation.
                        for (i += 2; i < text.length && text[i] != '\n' && text[i] != '\r'; i++) {
                            if (text[i] == '/') {
                                text[i] = ' ';
                            }
                        }
                    } else if (startsWith(text, i, "/*")) {
                        if (startsWith(text, i, "/**") && !startsWith(text, i, "/**/")) {
                            text[i + 2] = ' ';
                        }
                        i = behind(text, i + 2, "*/");
                    }
                    break;
                default:
            }
        }
    }

    /** The last character of a literal on one line, or where the line ends. */
    private static int behindLiteral(char[] text, int i) {
        char quote = text[i];
        for (i++; i < text.length && text[i] != quote && text[i] != '\n' && text[i] != '\r'; i++) {
            if (text[i] == '\\') {
                i++;
            }
        }
        return i;
    }

    /** The last character of what ends the text block or comment. */
    private static int behind(char[] text, int i, String end) {
        while (i < text.length && !startsWith(text, i, end)) {
            i += text[i] == '\\' && end.charAt(0) == '"' ? 2 : 1;
        }
        return i + end.length() - 1;
    }

    private static boolean startsWith(char[] text, int at, String what) {
        if (at + what.length() > text.length) {
            return false;
        }
        for (int i = 0; i < what.length(); i++) {
            if (text[at + i] != what.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
