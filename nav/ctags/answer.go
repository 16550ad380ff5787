package ctags

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of one answer, far above what honest files give: the largest header of
// Linux 6.1, 24 MB, gives 34 MB of answer.
const (
	maxAnswerLine = 1 << 20
	maxAnswer     = 256 << 20
)

var errAnswerTooLong = errors.New("the answer grows without end")

// answer is what came between a request and its completed line.
type answer struct {
	tags []Tag
	// program is the greeting, when the lines held one.
	program, version string
	// errors are the messages of error lines; ctags calls warnings errors too.
	errors []string
	// junk counts the lines that were not answers at all. Some versions print
	// "(null)" or a piece of the file between the answers.
	junk int
}

func (a *answer) clean() bool { return len(a.errors) == 0 && a.junk == 0 }

// message is one line of the protocol, of any type.
type message struct {
	Type string `json:"_type"`

	Name, Kind, Language, Scope, ScopeKind string
	Typeref, Signature, Access, Properties string
	Roles, Extras                          string
	Line, End                              int
	Inherits                               any // a string, or false for none

	Version string // program
	Message string // error
}

// readAnswer reads lines until the wanted one: "completed" ends the answer to a
// request, "program" is the greeting.
func readAnswer(r *bufio.Reader, until string) (*answer, error) {
	var (
		a    answer
		read int
		seen = interner{}
	)
	for {
		line, skipped, err := readLine(r)
		if read += len(line) + skipped; read > maxAnswer {
			return nil, errAnswerTooLong
		}
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		var m message
		if skipped > 0 || json.Unmarshal(line, &m) != nil {
			a.junk++
			continue
		}
		a.add(&m, seen)
		if m.Type == until {
			return &a, nil
		}
	}
}

func (a *answer) add(m *message, seen interner) {
	switch m.Type {
	case "tag":
		if m.Name == "" || m.Line < 1 {
			a.junk++
			return
		}
		a.tags = append(a.tags, m.tag(seen))
	case "error":
		a.errors = append(a.errors, m.Message)
	case "program":
		a.program, a.version = m.Name, m.Version
	case "completed":
	default:
		a.junk++
	}
}

func (m *message) tag(seen interner) Tag {
	inherits, _ := m.Inherits.(string)
	if m.End < m.Line {
		m.End = 0
	}
	return Tag{
		Name: m.Name, Kind: seen.intern(m.Kind), Language: seen.intern(m.Language),
		Line: m.Line, End: m.End,
		Scope: seen.intern(m.Scope), ScopeKind: seen.intern(m.ScopeKind),
		Typeref: seen.intern(m.Typeref), Signature: m.Signature,
		Access: seen.intern(m.Access), Inherits: inherits, Properties: seen.intern(m.Properties),
		Roles: seen.intern(m.Roles), Anonymous: strings.Contains(m.Extras, "anonymous"),
	}
}

// readLine returns the next line without its newline, valid until the next read.
// Of a line that does not fit the buffer it returns nothing but the length.
func readLine(r *bufio.Reader) (line []byte, skipped int, err error) {
	line, err = r.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		if skipped += len(line); skipped > maxAnswer {
			return nil, skipped, errAnswerTooLong
		}
		line, err = r.ReadSlice('\n')
	}
	if skipped > 0 {
		return nil, skipped + len(line), err
	}
	return bytes.TrimRight(line, "\r\n"), 0, err
}

// interner lets the tags of one file share the strings that they have in common.
type interner map[string]string

func (in interner) intern(s string) string {
	if have, ok := in[s]; ok {
		return have
	}
	in[s] = s
	return s
}

// request is the line that announces size bytes of content. It fails when ctags
// would not read the line as one.
func request(name string, size int) ([]byte, error) {
	line, err := json.Marshal(struct {
		Command  string `json:"command"`
		Filename string `json:"filename"`
		Size     int    `json:"size"`
	}{"generate-tags", name, size})
	if err != nil {
		return nil, err
	}
	if len(line) >= 1023 {
		return nil, fmt.Errorf("request for %q takes %d bytes, ctags reads 1,022", name, len(line))
	}
	return append(line, '\n'), nil
}
