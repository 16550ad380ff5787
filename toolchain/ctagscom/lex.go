package ctagscom

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/dlclark/regexp2/v2"
)

// The library looks at the time of its matches whenever a clock ticks, and ends those
// for which time seems to be up: on a starved machine, where a tick comes late, a
// match that has only begun, and the lexer then reads its token wrongly. A slower
// clock makes that ten times as rare; a match that really is too long ends after
// some 2 s instead of 0.3 s. Nothing but this setting reaches the clock, and it has
// to be made before the first match.
func init() { regexp2.SetTimeoutCheckPeriod(time.Second) }

// reference is a name in a line of a file.
type reference struct {
	name string
	line int
}

// Files beyond these limits are data, or written by a program for a program: by a
// lexer their references would cost minutes, and they would help nobody. A language
// with a scanner of its own has the limit of ctags.
const (
	maxLexed      = 2 << 20
	minifiedSize  = 32 << 10 // a smaller file may have lines of any length
	minifiedWidth = 500      // bytes a line, on average
)

// readReferences lexes one file of the language. An error says why the file has no
// references; nothing is wrong with a file of a language that has no lexer.
func readReferences(file, language string, limit time.Duration) ([]reference, error) {
	if language == "" {
		return nil, nil
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	limited := dialects[language].scan == nil
	if info.Size() > maxFileSize || limited && info.Size() > maxLexed {
		return nil, fmt.Errorf("larger than %d MB", maxLexed>>20)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(content, 0) >= 0 {
		return nil, fmt.Errorf("it holds NUL bytes")
	}
	if limited && len(content) > minifiedSize && len(content)/(1+bytes.Count(content, []byte("\n"))) > minifiedWidth {
		return nil, fmt.Errorf("it is minified: lines of more than %d bytes on average", minifiedWidth)
	}
	return lex(language, content, limit)
}

// slowError is a file that used up its limit.
type slowError struct{ limit time.Duration }

func (e *slowError) Error() string {
	return fmt.Sprintf("lexing took more than %v of processor time", e.limit)
}

// lex returns the names in the content, each once a line, in the order of the
// content; none for a language without a lexer.
func lex(language string, content []byte, limit time.Duration) (refs []reference, err error) {
	defer func() {
		if r := recover(); r != nil {
			refs, err = nil, fmt.Errorf("the lexer fails: %v", r)
		}
	}()
	d := dialects[language]
	c := collector{dialect: d, line: 1, seen: make(map[reference]bool)}
	text := asText(content)
	switch lexer := d.find(language); {
	case d.scan != nil:
		d.scan(text, c.name)
	case lexer != nil:
		if err := c.read(lexer, text, limit); err != nil {
			return nil, err
		}
	}
	return c.refs, nil
}

// read adds the names among the tokens of the text. The lexer is asked for one token
// after the other, so that it really stops when the time is up; a single match of
// a regular expression has a limit of its own (see init).
func (c *collector) read(lexer chroma.Lexer, text string, limit time.Duration) error {
	runtime.LockOSThread() // for cpuTime
	defer runtime.UnlockOSThread()
	began := cpuTime()
	if c.dialect.prepare != nil {
		text = c.dialect.prepare(text)
	}
	if c.dialect.commands {
		c.shell = &shell{command: true}
	}
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return fmt.Errorf("the lexer fails: %w", err)
	}
	for n := 0; ; n++ {
		token := tokens()
		if n%64 == 0 && cpuTime()-began > limit {
			return &slowError{limit}
		}
		c.add(token)
		if token == chroma.EOF {
			return nil
		}
	}
}

// collector turns the tokens of one file into references.
type collector struct {
	dialect dialect
	shell   *shell
	line    int
	last    string       // the token before in the same line, "" at its beginning
	joined  chroma.Token // tokens of one name so far
	at      int          // the line in which joined begins
	seen    map[reference]bool
	refs    []reference
}

func (c *collector) add(t chroma.Token) {
	if t.Value == "" && t.Type != chroma.EOFType {
		return
	}
	takes := c.takes(t)
	if c.joins(t) {
		c.joined.Value += t.Value
	} else {
		c.words(c.joined.Value, c.at)
		c.joined = chroma.Token{}
		if takes {
			c.joined, c.at = t, c.line
		}
	}
	if value := strings.TrimSpace(t.Value); value != "" {
		c.last = value
	} else if strings.Contains(t.Value, "\n") {
		c.last = ""
	}
	c.line += strings.Count(t.Value, "\n")
}

// joins says whether the token goes on with the name before it: a lexer may give the
// dotted name of a module, and even a single word, in pieces.
func (c *collector) joins(t chroma.Token) bool {
	if c.joined.Value == "" || t.Value == "" {
		return false
	}
	if t.Type == chroma.NameNamespace && c.joined.Type == chroma.NameNamespace {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(c.joined.Value)
	return c.isInner(before) && strings.IndexFunc(t.Value, func(r rune) bool { return !isNameRune(r) && !unicode.IsDigit(r) }) < 0
}

func (c *collector) takes(t chroma.Token) bool {
	if c.shell != nil {
		return c.shell.isName(t)
	}
	if c.last == "." && t.Type.InCategory(chroma.Keyword) {
		return true // a member, as in `response.get`
	}
	if c.dialect.takes != nil {
		return c.dialect.takes(t, c.last)
	}
	return isName(t)
}

// words adds the names in the value of a token. `@functools.cache` is the names
// functools and cache, and also functools.cache.
func (c *collector) words(value string, line int) {
	for text := range strings.Lines(value) {
		for word := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
			c.word(word, line)
		}
		line++
	}
}

func (c *collector) word(word string, line int) {
	whole := strings.TrimFunc(strings.TrimPrefix(word, c.dialect.quote), c.separates)
	parts := strings.FieldsFunc(whole, c.separates)
	for _, part := range parts {
		c.name(part, line)
		if c.dialect.sigil != "" {
			c.name(strings.TrimPrefix(part, c.dialect.sigil), line)
		}
	}
	if len(parts) > 1 && strings.IndexFunc(whole, func(r rune) bool { return c.separates(r) && r != '.' && r != ':' }) < 0 {
		c.name(whole, line)
	}
}

// isInner says whether names of the language hold the character.
func (c *collector) isInner(r rune) bool {
	if r >= utf8.RuneSelf {
		return !unicode.IsSpace(r)
	}
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.IndexByte(c.dialect.inner, byte(r)) >= 0
}

func (c *collector) separates(r rune) bool { return !c.isInner(r) }

// name adds a name that begins as one; operators and the number of `$1` are none.
func (c *collector) name(name string, line int) {
	first, _ := utf8.DecodeRuneInString(name)
	if unicode.IsDigit(first) || strings.IndexFunc(name, isNameRune) < 0 {
		return
	}
	name = asBytes(name)
	ref := reference{name, line}
	if len(name) > maxName || c.seen[ref] {
		return
	}
	c.seen[ref] = true
	c.refs = append(c.refs, ref)
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) }
