package toolchain

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ctagsFields asks for what an index reader needs of a tag: line, end, long
// kind, signature, scope, typeref.
const ctagsFields = "--fields=+neKSt"

// probeCtags demands a Universal Ctags with JSON and interactive mode that
// answers a request, and returns its version and languages.
func probeCtags(ctx context.Context, path string, env []string) (string, []language, error) {
	version, err := checkVersion(ctx, path, env, []string{"--options=NONE", "--version"}, ctagsVersion)
	if err != nil {
		return "", nil, notUniversal(path, err)
	}
	features, err := output(ctx, command{path: path, env: env, args: []string{"--options=NONE", "--list-features"}})
	if err != nil {
		return version, nil, err
	}
	for _, need := range []string{"json", "interactive"} {
		if !slices.ContainsFunc(strings.Split(features, "\n"), func(line string) bool {
			f := strings.Fields(line)
			return len(f) > 0 && f[0] == need
		}) {
			return version, nil, &ExecError{Path: path, Cause: CauseWrong, Detail: "Universal Ctags built without " + need + " support"}
		}
	}
	maps, err := output(ctx, command{path: path, env: env, args: []string{"--options=NONE", "--list-maps"}})
	if err != nil {
		return version, nil, err
	}
	if err := proveInteractive(ctx, path, env); err != nil {
		return version, nil, err
	}
	return version, parseMaps(maps), nil
}

// notUniversal says which other ctags it was, since three unrelated programs
// share the name.
func notUniversal(path string, err error) error {
	text := err.Error()
	for mark, name := range map[string]string{"Exuberant Ctags": "Exuberant Ctags", "GNU Emacs": "the ctags of Emacs"} {
		if strings.Contains(text, mark) {
			return &ExecError{Path: path, Cause: CauseWrong, Detail: name + "; Universal Ctags with JSON output is needed", Err: err}
		}
	}
	return err
}

// proveInteractive asks for the tags of one function over the interactive
// protocol and demands a tag with an end line:
//
//	→ {"command":"generate-tags","filename":NAME,"size":N} newline, N bytes of source
//	← {"_type":"program",…}, then {"_type":"tag","name":…,"line":…,"end":…}…,
//	  then {"_type":"completed","command":"generate-tags"}
func proveInteractive(ctx context.Context, path string, env []string) error {
	const source = "int prove(void)\n{\n\treturn 0;\n}\n"
	request := fmt.Sprintf("{\"command\":\"generate-tags\",\"filename\":\"prove.c\",\"size\":%d}\n%s", len(source), source)
	r := command{path: path, env: env, args: []string{"--options=NONE", "--_interactive", ctagsFields}, stdin: []byte(request)}.run(ctx)
	if err := explain(path, r); err != nil {
		return err
	}
	var tagged, completed bool
	for sc := bufio.NewScanner(bytes.NewReader(r.stdout)); sc.Scan(); {
		var answer struct {
			Type string `json:"_type"`
			Name string `json:"name"`
			End  int    `json:"end"`
		}
		if json.Unmarshal(sc.Bytes(), &answer) != nil {
			continue
		}
		tagged = tagged || answer.Type == "tag" && answer.Name == "prove" && answer.End == 4
		completed = completed || answer.Type == "completed"
	}
	if !tagged || !completed {
		return &ExecError{Path: path, Cause: CauseWrong, Detail: fmt.Sprintf("its interactive mode did not report the end of a function (it said %q)", firstLine(r.stdout))}
	}
	return nil
}

// output returns what a program printed, or why it could not.
func output(ctx context.Context, c command) (string, error) {
	r := c.run(ctx)
	if err := explain(c.path, r); err != nil {
		return "", err
	}
	return string(r.stdout), nil
}
