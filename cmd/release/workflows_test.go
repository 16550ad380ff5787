package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	pinnedAction = regexp.MustCompile(`^uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	pinnedImage  = regexp.MustCompile(`^(container|image): (\S+@sha256:[0-9a-f]{64}|\$\{\{ matrix\.image \}\})$`)
	job          = regexp.MustCompile(`(?m)^  [a-z]\w*:\n`)
)

// TestWorkflows holds what actionlint does not: code of others is named by its
// digest, nobody has a right that is not written where it is used, every job
// ends, and the key is where it signs and nowhere else.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("workflows: %v, %v", files, err)
	}
	versions := map[string]string{} // of each action, the same everywhere
	keys := 0
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		head, jobs, ok := strings.Cut(text, "\njobs:\n")
		if !ok || !strings.Contains(head, "\npermissions: {}\n") || strings.Contains(head, "pull_request_target") {
			t.Errorf("%s does not begin without permissions", path)
		}
		n := len(job.FindAllString(jobs, -1))
		if n == 0 || strings.Count(jobs, "\n    permissions:\n") != n || strings.Count(jobs, "\n    timeout-minutes: ") != n {
			t.Errorf("%s: of %d jobs some have no permissions or no time limit of their own", path, n)
		}
		if strings.Count(text, "actions/checkout@") != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s leaves a token in a checkout", path)
		}
		for line := range strings.Lines(jobs) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
			switch {
			case strings.HasPrefix(line, "uses: "):
				if !pinnedAction.MatchString(line) {
					t.Errorf("%s: %s", path, line)
				}
				name, version, _ := strings.Cut(line, "@")
				if before := versions[name]; before != "" && before != version {
					t.Errorf("%s is %s and %s", name, before, version)
				}
				versions[name] = version
			case strings.HasPrefix(line, "file: "):
				if _, err := os.Stat(strings.TrimPrefix(line, "file: ")); err != nil {
					t.Errorf("%s builds from a file that is not there: %v", path, err)
				}
			case strings.HasPrefix(line, "container: "), strings.HasPrefix(line, "image: "):
				if !pinnedImage.MatchString(line) {
					t.Errorf("%s: %s", path, line)
				}
			}
		}
		keys += strings.Count(text, "secrets.")
		if strings.Contains(text, "secrets.RELEASE_KEY") && filepath.Base(path) != "release.yml" {
			t.Errorf("%s uses the release key", path)
		}
	}
	if keys != 1 {
		t.Errorf("secrets are used %d times, want once, to sign", keys)
	}
}
