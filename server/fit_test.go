package server

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// longTree has a function with many uses on long lines, one with a long body, one
// that calls many others, and many namesakes.
func longTree() string {
	var tree strings.Builder
	long := strings.Repeat("x", 120)
	tree.WriteString("-- uses.c --\nint used(int x) { return x; }\n")
	for i := range 300 {
		fmt.Fprintf(&tree, "int user_%03d(void) { return used(%d) /* %s */; }\n", i, i, long)
	}
	tree.WriteString("-- body.c --\nint long_body(void)\n{\n")
	for i := range 290 {
		fmt.Fprintf(&tree, "\tstep(%d); /* %s */\n", i, long)
	}
	tree.WriteString("}\n-- calls.c --\n")
	for i := range 400 {
		fmt.Fprintf(&tree, "static void a_function_with_a_rather_long_name_%03d(void) {}\n", i)
	}
	tree.WriteString("int calls(void)\n{\n")
	for i := range 400 {
		fmt.Fprintf(&tree, "\ta_function_with_a_rather_long_name_%03d();\n", i)
	}
	tree.WriteString("}\n")
	for i := range 60 {
		fmt.Fprintf(&tree, "-- some/folder/with/a/name/%03d.c --\nstatic int namesake(void) { return 1; }\nint f%d(void) { return namesake(); }\n", i, i)
	}
	return tree.String()
}

// TestDefaultAnswersAreShort asks without a limit: no answer is longer than what
// every host shows whole, and each says how to get the rest.
func TestDefaultAnswersAreShort(t *testing.T) {
	root := navtest.Tree(t, longTree())
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	for _, test := range []struct {
		tool, symbol, rest string
	}{
		{"find_references", "used", `^\[1-(\d+) of 300, cut at 12,000 characters · offset=(\d+) for more\]$`},
		{"find_callers", "used", `^\[1-(\d+) of 300, cut at 12,000 characters · offset=(\d+) for more\]$`},
		{"get_symbol_body", "long_body", `^\[cut at 12,000 characters · max_definitions=1 shows up to 300 lines of each\]$`},
		{"find_callees", "calls", `^\[\d+ of 400, cut at 12,000 characters · format=json has all\]$`},
		{"find_callers", "namesake", `namesake@some/folder/with/a/name/000\.c.* and 40 more`},
	} {
		got, failed := ask(t, session, test.tool, map[string]any{"project_root": root, "symbol": test.symbol})
		if failed || len(got) > 12_000 || !regexp.MustCompile("(?m)"+test.rest).MatchString(got) {
			t.Errorf("%s %s: failed=%v, %d bytes, ends with\n%s\nwant at most 12,000 and %s", test.tool, test.symbol, failed, len(got), tail(got), test.rest)
		}
		if strings.Contains(test.rest, "cut at") && len(got) < 11_000 {
			t.Errorf("%s %s: got %d bytes, much less than there is room for", test.tool, test.symbol, len(got))
		}
	}
	// A caller that says how much it wants gets it.
	for _, arguments := range []map[string]any{
		{"symbol": "used", "limit": 300}, {"symbol": "used", "format": "json", "limit": 300},
	} {
		arguments["project_root"] = root
		if got, failed := ask(t, session, "find_references", arguments); failed || !strings.Contains(got, "user_299") || strings.Contains(got, "cut at") {
			t.Errorf("%v: failed=%v, %d bytes, ends with %s", arguments, failed, len(got), tail(got))
		}
	}
	body, failed := ask(t, session, "get_symbol_body", map[string]any{"project_root": root, "symbol": "long_body", "max_definitions": 1})
	if failed || !strings.Contains(body, "step(289)") {
		t.Errorf("a body asked for whole: failed=%v, ends with %s", failed, tail(body))
	}
	// JSON is for programs: it has the default limit and no other.
	answer, _ := ask(t, session, "find_references", map[string]any{"project_root": root, "symbol": "used", "format": "json"})
	var e struct{ Results []any }
	if err := json.Unmarshal([]byte(answer), &e); err != nil || len(e.Results) != defaultLimit {
		t.Errorf("JSON: got %d results, %v", len(e.Results), err)
	}
}

// TestShortPagesVisitEverything follows the offsets of cut pages to the end.
func TestShortPagesVisitEverything(t *testing.T) {
	root := navtest.Tree(t, longTree())
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	more := regexp.MustCompile(`offset=(\d+) for more`)
	for _, tool := range []string{"find_references", "find_callers"} {
		seen := map[string]int{}
		offset, pages := 0, 0
		for {
			got, failed := ask(t, session, tool, map[string]any{"project_root": root, "symbol": "used", "offset": offset})
			if failed {
				t.Fatalf("%s from %d: %s", tool, offset, got)
			}
			for _, name := range regexp.MustCompile(`user_\d+\(void\)`).FindAllString(got, -1) {
				seen[name]++
			}
			pages++
			m := more.FindStringSubmatch(got)
			if m == nil {
				break
			}
			next, _ := strconv.Atoi(m[1])
			if next <= offset {
				t.Fatalf("%s: the page from %d is followed by %d", tool, offset, next)
			}
			offset = next
		}
		if len(seen) != 300 || pages < 4 {
			t.Errorf("%s: saw %d of 300 on %d pages", tool, len(seen), pages)
		}
		for name, n := range seen {
			if n != 1 {
				t.Errorf("%s: saw %s %d times", tool, name, n)
			}
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-300):] }
