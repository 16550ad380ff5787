package server

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFilterAnswersWhatIsNoMessage(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, test := range []struct {
		name, in         string
		forwarded, reply string
	}{
		{"a message", ping + "\n", ping + "\n", ""},
		{"CRLF and blank lines", "\r\n\n" + ping + "\r\n\n", ping + "\n", ""},
		{"no final newline", ping, ping + "\n", ""},
		{"text", "hello\n" + ping + "\n", ping + "\n", `"code":-32700`},
		{"half a message", `{"jsonrpc":"2.0",` + "\n" + ping + "\n", ping + "\n", `"code":-32700`},
		{"two values on a line", ping + ping + "\n" + ping + "\n", ping + "\n", `"code":-32700`},
		{"no JSON-RPC", "{}\n42\n\"x\"\n" + ping + "\n", ping + "\n", `"code":-32600`},
		{"old version", `{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n" + ping + "\n", ping + "\n", `"code":-32600`},
		{"empty batch", "[]\n" + ping + "\n", ping + "\n", `"code":-32600`},
		{"bad batch", "[" + ping + ",7]\n" + ping + "\n", ping + "\n", `"code":-32600`},
		{"batch", "[" + ping + "," + ping + "]\n", ping + "\n" + ping + "\n", ""},
		{"a line over the limit", `"` + strings.Repeat("x", maxLine) + "\"\n" + ping + "\n", ping + "\n", `longer than`},
		{"NUL bytes", "\x00\x00\n" + ping + "\n", ping + "\n", `"code":-32700`},
		{"deep nesting", strings.Repeat("[", 20000) + "\n" + ping + "\n", ping + "\n", `"code":-32700`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var forwarded, replies bytes.Buffer
			err := filter(strings.NewReader(test.in), &forwarded, &replies)
			if !errors.Is(err, io.EOF) {
				t.Errorf("got error %v, want EOF", err)
			}
			if got := forwarded.String(); got != test.forwarded {
				t.Errorf("forwarded %q, want %q", got, test.forwarded)
			}
			if got := replies.String(); test.reply == "" && got != "" || !strings.Contains(got, test.reply) {
				t.Errorf("replied %q, want it to hold %q", got, test.reply)
			}
		})
	}
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n[]\n"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nx"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var forwarded, replies bytes.Buffer
		if err := filter(bytes.NewReader(in), &forwarded, &replies); !errors.Is(err, io.EOF) {
			t.Fatalf("got error %v, want EOF", err)
		}
		// Whatever is handed on is handed on unchanged by a second filter.
		var again, none bytes.Buffer
		filter(bytes.NewReader(forwarded.Bytes()), &again, &none)
		if !bytes.Equal(again.Bytes(), forwarded.Bytes()) || none.Len() > 0 {
			t.Errorf("forwarded %q, which itself is forwarded as %q and answered with %q", &forwarded, &again, &none)
		}
	})
}
