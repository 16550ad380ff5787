package csource

import (
	"strings"
	"testing"
)

func TestGuards(t *testing.T) {
	tests := []struct {
		name, src string
		line      int
		want      string
	}{
		{"none", "int x;\n", 1, ""},
		{"ifdef", "#ifdef A\nint x;\n#endif\n", 2, "defined(A)"},
		{"ifndef", "#ifndef A\nint x;\n#endif\nint y;\n", 2, "!defined(A)"},
		{"after", "#ifdef A\n#endif\nint y;\n", 3, ""},
		{"directive line", "#ifdef A\nint x;\n#else\nint y;\n#endif\n", 3, ""},
		{"else of ifdef", "#ifdef A\n#else\nint y;\n#endif\n", 3, "!defined(A)"},
		{"else of ifndef", "#ifndef A\n#else\nint y;\n#endif\n", 3, "defined(A)"},
		{"else of if", "#if A > 1\n#else\nint y;\n#endif\n", 3, "!(A > 1)"},
		{"else of call", "#if IS_ENABLED(CONFIG_A)\n#else\nint y;\n#endif\n", 3, "!IS_ENABLED(CONFIG_A)"},
		{"elif", "#if A\n#elif B\nint y;\n#endif\n", 3, "!A && B"},
		{"elif with ||", "#if A || B\n#elif B || C\nint y;\n#endif\n", 3, "!(A || B) && (B || C)"},
		{"|| alone", "#if A || B\nint y;\n#endif\n", 2, "A || B"},
		{"elifdef", "#ifdef A\n#elifdef B\nint x;\n#elifndef C\n#endif\n", 3, "!defined(A) && defined(B)"},
		{"elifndef", "#ifdef A\n#elifdef B\n#elifndef C\nint x;\n#endif\n", 4, "!defined(A) && !defined(B) && !defined(C)"},
		{"else of elifndef", "#ifdef A\n#elifdef B\n#elifndef C\n#else\nint x;\n#endif\n", 5, "!defined(A) && !defined(B) && defined(C)"},
		{"nested", "#ifdef A\n#if B\nint x;\n#endif\n#endif\n", 3, "defined(A) ; B"},
		{"after nested", "#ifdef A\n#if B\n#endif\nint x;\n#endif\n", 4, "defined(A)"},
		{"if 0", "#if 0\nint x;\n#endif\n", 2, "0"},
		{"else of if 0", "#if 0\n#else\nint x;\n#endif\n", 3, ""},
		{"elif of if 0", "#if 0\n#elif A\nint x;\n#endif\n", 3, "A"},
		{"if 1", "#if 1\nint x;\n#endif\n", 2, ""},
		{"else of if 1", "#if 1\n#else\nint x;\n#endif\n", 3, "0"},
		{"comment", "#ifdef A /* why */ // not\nint x;\n#endif\n", 2, "defined(A)"},
		{"comment in operand", "#if A /* one\ntwo */ && B\nint x;\n#endif\n", 3, "A && B"},
		{"continuation", "#if A && \\\n    B\nint x;\n#endif\n", 3, "A && B"},
		{"CRLF", "#if A && \\\r\n B\r\nint x;\r\n#endif\r\n", 3, "A && B"},
		{"spaced", "  #  ifdef\tA\nint x;\n#endif", 2, "defined(A)"},
		{"comment before", "/* c */ #ifdef A\nint x;\n#endif", 2, "defined(A)"},
		{"in comment", "/*\n#ifdef A\n*/\nint x;\n", 4, ""},
		{"in line comment", "// C:\\dir\\\n#ifdef GHOST\nint x;\n", 3, ""},
		{"in string", "char *s = \"text \\\n#if GHOST \\\n\";\nint x;\n", 4, ""},
		{"in macro", "#define X \\\n#if A\nint x;\n", 3, ""},
		{"not at line start", "int x; #ifdef A\nint y;\n", 2, ""},
		{"character constant", "char c = '\"';\n#ifdef A\nint y;\n#endif", 3, "defined(A)"},
		{"apostrophe in prose", "#if 0\nit isn't \"code\n#endif\n#ifdef A\nint y;\n#endif", 5, "defined(A)"},
		{"apostrophe in error", "#error don't /* do\nthis */\n#ifdef A\nint y;\n#endif", 4, "defined(A)"},
		{"unclosed", "#ifdef A\nint x;\n", 2, "defined(A)"},
		{"stray endif", "#endif\n#ifdef A\nint x;\n#endif\n", 3, "defined(A)"},
		{"stray else", "#else\nint x;\n", 2, ""},
		{"second else", "#ifdef A\n#else\n#else\nint x;\n#endif\n", 4, "!defined(A)"},
		{"include guard", "/* c */\n#ifndef H\n#define H\nint x;\n#endif /* H */\n", 4, ""},
		{"include guard nested", "#ifndef H\n#define H\n#ifdef A\nint x;\n#endif\n#endif\n", 4, "defined(A)"},
		{"include guard as if", "#if !defined(H)\n#define H 1\nint x;\n#endif\n", 3, ""},
		{"include guard of a trace header", "#undef T\n#define T t\n#if !defined(H) || defined(AGAIN)\n#define H\nint x;\n#endif\n#include <t.h>\n", 5, ""},
		{"guard with else", "#ifndef H\n#define H\nint x;\n#else\nint y;\n#endif\n", 3, "!defined(H)"},
		{"guard with code behind", "#ifndef H\n#define H\nint x;\n#endif\nint y;\n", 3, "!defined(H)"},
		{"guard with code before", "int y;\n#ifndef H\n#define H\nint x;\n#endif\n", 4, "!defined(H)"},
		{"guard of another name", "#ifndef H\n#define G\nint x;\n#endif\n", 3, "!defined(H)"},
		{"guard without define", "#ifndef H\nint x;\n#endif\n", 2, "!defined(H)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Scan([]byte(tt.src), C)
			if got := strings.Join(f.Guards(tt.line), " ; "); got != tt.want {
				t.Errorf("line %d of %q: got %q, want %q", tt.line, tt.src, got, tt.want)
			}
		})
	}
}

func TestGuardsAreNeverNil(t *testing.T) {
	if got := Scan([]byte("int x;"), C).Guards(1); got == nil {
		t.Error("got nil for an unconditional line, want an empty list")
	}
}

func TestDisplay(t *testing.T) {
	tests := []struct{ cond, want string }{
		{"defined(CONFIG_HIGHMEM)", "CONFIG_HIGHMEM"},
		{"!defined(CONFIG_HIGHMEM)", "!CONFIG_HIGHMEM"},
		{"!defined(A) && !defined( B ) && C", "!A && !B && C"},
		{"defined A || defined(B)", "A || B"},
		{"is_defined(A)", "is_defined(A)"},
		{"definedX(A)", "definedX(A)"},
		{"defined(", "defined("},
		{"defined", "defined"},
		{"VER >= 010", "VER >= 010"},
	}
	for _, tt := range tests {
		if got := Display(tt.cond); got != tt.want {
			t.Errorf("Display(%q): got %q, want %q", tt.cond, got, tt.want)
		}
	}
}

func TestLiterals(t *testing.T) {
	tests := []struct {
		name, src string
		lang      Lang
		want      string // the token texts
	}{
		{"string with quote", `a"\"b"c`, C, `a|"\"b"|c`},
		{"characters", `'\'' '"' '\\'x`, C, `'\''|'"'|'\\'|x`},
		{"separator", "1'000'000 x", CPlusPlus, "1'000'000|x"},
		{"exponent", "1e+5+2 0x1e+2 0x1p-3", C, "1e+5|+|2|0x1e|+|2|0x1p-3"},
		{"raw", `R"(}{ " )" x u8R"ab()")ab" y`, CPlusPlus, `R"(}{ " )"|x|u8R"ab()")ab"|y`},
		{"raw in C", `R"(" x`, C, `R|"("|x`},
		{"raw over lines", "R\"(a\n#if X\n)\" x", CPlusPlus, "R\"(a\n#if X\n)\"|x"},
		{"unclosed string", "\"abc\nx", C, "\"abc|x"},
		{"unclosed comment", "a /* b", C, "a"},
		{"arrow and scope", "a->b::c", CPlusPlus, "a|->|b|::|c"},
		{"NUL and BOM", "\ufeffa\x00b", C, "a|b"},
		{"lone backslash at the end", "a\\", C, "a"},
		{"string open at the end", "\"a\\", C, "\"a\\"},
		{"slash at the end", "a/", C, "a|/"},
		{"hash at the end", "#", C, ""},
		{"assembly quote", "mov 'a, b", Assembly, "mov|a|,|b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Scan([]byte(tt.src), tt.lang)
			var got []string
			for _, tok := range f.toks {
				got = append(got, f.text[tok.pos:tok.end])
			}
			if got := strings.Join(got, "|"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
