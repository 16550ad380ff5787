package evals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"
)

// Question is one question in plain words and what a right reply holds.
type Question struct {
	ID  string `toml:"id"`
	Ask string `toml:"ask"`
	// Names must all stand in the reply, as whole words.
	Names []string `toml:"names"`
	// Places must all be cited as path:line. They are written path~text: the
	// line is looked up in the tree, any that holds the text will do.
	Places []Place `toml:"places"`
	// Wrong are whole words that no right reply holds.
	Wrong []string `toml:"wrong"`
}

// LoadQuestions reads a file of [[question]] tables and refuses a question that
// every reply would answer.
func LoadQuestions(file string) ([]Question, error) {
	var in struct {
		Questions []Question `toml:"question"`
	}
	meta, err := toml.DecodeFile(file, &in)
	if err != nil {
		return nil, fmt.Errorf("questions %s: %w", file, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("questions %s: unknown key %s", file, unknown[0])
	}
	if len(in.Questions) == 0 {
		return nil, fmt.Errorf("questions %s: no [[question]]", file)
	}
	for _, q := range in.Questions {
		if q.ID == "" || q.Ask == "" || len(q.Names)+len(q.Places) == 0 {
			return nil, fmt.Errorf("questions %s: question %q needs id, ask, and names or places", file, q.ID)
		}
	}
	return in.Questions, nil
}

// Agent is a coding agent's command line, run by sh in the root of the tree
// with the question in $QUESTION. What it prints is the reply.
type Agent struct {
	Name, Command string
}

// AgentOptions are the limits of a run.
type AgentOptions struct {
	// Timeout bounds one question. Zero means 10 minutes.
	Timeout time.Duration
	// Done hears of every grade as it is given; nil means nobody does.
	Done func(Grade)
}

// Grade is how one agent did on one question.
type Grade struct {
	Question string  `json:"question"`
	Agent    string  `json:"agent"`
	Right    bool    `json:"right"`
	Seconds  float64 `json:"seconds"`
	// Faults is what the reply lacks or should not hold.
	Faults []string `json:"faults,omitempty"`
}

// RunAgent asks every agent every question about the tree at root, one after
// the other, and grades the replies.
func RunAgent(ctx context.Context, root string, questions []Question, agents []Agent, opts AgentOptions) ([]Grade, error) {
	if opts.Timeout == 0 {
		opts.Timeout = 10 * time.Minute
	}
	var grades []Grade
	for _, q := range questions {
		want, err := q.resolve(root)
		if err != nil {
			return nil, err
		}
		for _, a := range agents {
			start := time.Now()
			reply, err := a.reply(ctx, root, q.Ask, opts.Timeout)
			if ctx.Err() != nil {
				return grades, ctx.Err()
			}
			g := Grade{Question: q.ID, Agent: a.Name, Seconds: time.Since(start).Seconds(), Faults: want.faults(reply)}
			if err != nil {
				g.Faults = append(g.Faults, err.Error())
			}
			g.Right = len(g.Faults) == 0
			grades = append(grades, g)
			if opts.Done != nil {
				opts.Done(g)
			}
		}
	}
	return grades, nil
}

// demand is a question's expectation with the lines of one tree.
type demand struct {
	names, wrong []string
	places       [][]string // of each, one citation has to be there
}

func (q *Question) resolve(root string) (demand, error) {
	d := demand{names: q.Names, wrong: q.Wrong}
	for _, p := range q.Places {
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.Path)))
		if err != nil {
			return d, fmt.Errorf("question %s: %w", q.ID, err)
		}
		var cited []string
		for i, line := range strings.Split(string(src), "\n") {
			if p.Text != "" && strings.Contains(line, p.Text) {
				cited = append(cited, fmt.Sprintf("%s:%d", p.Path, i+1))
			}
		}
		if len(cited) == 0 {
			return d, fmt.Errorf("question %s: no line of %s holds %q", q.ID, p.Path, p.Text)
		}
		d.places = append(d.places, cited)
	}
	return d, nil
}

func (d demand) faults(reply string) []string {
	var out []string
	for _, name := range d.names {
		if !holdsWord(reply, name) {
			out = append(out, "lacks "+name)
		}
	}
	for _, cited := range d.places {
		if !holdsAny(reply, cited) {
			out = append(out, "lacks "+strings.Join(cited, " or "))
		}
	}
	for _, name := range d.wrong {
		if holdsWord(reply, name) {
			out = append(out, "names "+name)
		}
	}
	return out
}

func holdsAny(reply string, words []string) bool {
	for _, w := range words {
		if holdsWord(reply, w) {
			return true
		}
	}
	return false
}

// holdsWord says whether a reply names something, and not merely something
// longer: fs/a.c:12 is not in fs/a.c:123, nor vfs_read in vfs_readv.
func holdsWord(reply, word string) bool {
	return regexp.MustCompile(`(^|[^\w/])(\./)?` + regexp.QuoteMeta(word) + `($|\W)`).MatchString(reply)
}

// maxReply bounds what is kept of a reply.
const maxReply = 1 << 20

// reply runs the agent. Its process group ends with it, whatever it started.
func (a Agent) reply(ctx context.Context, root, question string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", a.Command)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "QUESTION="+question)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	cmd.WaitDelay = time.Second
	var out, errOut bounded
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if cmd.Process != nil {
		_ = kill() // children that outlived the agent, if any
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return out.String(), fmt.Errorf("%s: no reply in %s", a.Name, timeout)
	case err != nil:
		return out.String(), fmt.Errorf("%s: %w: %s", a.Name, err, strings.TrimSpace(errOut.String()))
	}
	return out.String(), nil
}

// bounded keeps the first maxReply bytes written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxReply-b.Len())])
	return len(p), nil
}

// AgentText renders the grades for people: one line an agent, then the faults.
func AgentText(agents []Agent, grades []Grade) string {
	var b strings.Builder
	for _, a := range agents {
		var asked, right int
		var seconds float64
		for _, g := range grades {
			if g.Agent == a.Name {
				asked++
				seconds += g.Seconds
				if g.Right {
					right++
				}
			}
		}
		fmt.Fprintf(&b, "%-10s %3d of %d right, %.1f s a question\n", a.Name, right, asked, seconds/float64(max(asked, 1)))
	}
	for _, g := range grades {
		if !g.Right {
			fmt.Fprintf(&b, "%-10s %s: %s\n", g.Agent, g.Question, strings.Join(g.Faults, "; "))
		}
	}
	return b.String()
}
