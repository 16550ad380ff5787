package semantic

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// structure answers with the declarations of one file.
func (e *Engine) structure(ctx context.Context, t *Tree, m *modules, r *Request) (Answer, error) {
	generation := generationOf(t, m)
	var why reasons
	cover := &Coverage{}
	f, err := e.parseOne(ctx, t, r.Path, &why, cover)
	if err != nil {
		return Answer{}, err
	}
	a, list, err := e.page(r, generation, len(f.entries), func(i int) Declaration { return e.found(generation, m, f, i) })
	if err != nil {
		return Answer{}, err
	}
	part := make([]entry, len(list))
	for i, d := range list {
		part[i] = entry{d, f.entries[a.Offset+i].depth}
	}
	a.Declarations = nest(part)
	use := &usage{}
	if cover.Files > 0 {
		use.add(f)
	}
	cover.Reasons = why.list()
	cover.Complete = len(cover.Reasons) == 0
	use.report(&a.Meta, cover)
	if a.Total == 0 {
		a.Message = r.Path + " declares nothing that " + f.parser + " sees"
		if !cover.Complete {
			a.Message = r.Path + " was not read: " + strings.Join(cover.Reasons, "; ")
		}
	}
	return a, nil
}

// parseOne reads one file under the same limits as the inventory.
func (e *Engine) parseOne(ctx context.Context, t *Tree, path string, why *reasons, cover *Coverage) (*parsedFile, error) {
	f := &parsedFile{complete: true, parser: "no parser"}
	if strings.Count(path, "/") > e.opts.Limits.Levels {
		why.add("directoryLevels", "%s lies below more than %d folders", path, e.opts.Limits.Levels)
		return f, nil
	}
	content, err := e.read(t, path)
	switch {
	case errors.Is(err, errTooLarge):
		why.add("fileBytes", "%s is larger than %d bytes", path, e.opts.Limits.FileBytes)
		return f, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &RequestError{"path", path + ": no such file in " + t.Root}
	case err != nil:
		return nil, &RequestError{"path", err.Error()}
	}
	cover.Files, cover.Bytes = 1, int64(len(content))
	parsed, err := e.parse(ctx, []File{{path, content}})
	if err != nil {
		return nil, err
	}
	*f = parsed[0]
	if limit := e.opts.Limits.Declarations; len(f.entries) > limit {
		why.add("declarations", "%s has %d declarations; these are the first %d", path, len(f.entries), limit)
		f.entries = f.entries[:limit]
	}
	return f, nil
}

// usage adds up which parsers read the files of an answer.
type usage struct {
	uses     []ParserUse
	complete bool
	problems []Problem
	files    int
}

func (u *usage) add(f *parsedFile) {
	if u.files == 0 {
		u.complete = true
	}
	u.files++
	at := -1
	for i := range u.uses {
		if u.uses[i].Parser == f.parser {
			at = i
		}
	}
	if at < 0 {
		at = len(u.uses)
		u.uses = append(u.uses, ParserUse{Parser: f.parser})
	}
	u.uses[at].Files++
	if f.complete {
		u.uses[at].Complete++
	} else {
		u.complete = false
	}
	if room := maxProblems - len(u.problems); room > 0 {
		u.problems = append(u.problems, f.problems[:min(room, len(f.problems))]...)
	}
}

// report puts what is known about the coverage of the parser routes into meta.
func (u *usage) report(meta *Meta, cover *Coverage) {
	complete := u.complete || u.files == 0 && cover.Complete
	meta.Inventory, meta.ParserComplete = cover, &complete
	meta.Parsers = append([]ParserUse{}, u.uses...)
	meta.Problems = u.problems
	for _, use := range u.uses {
		if use.Parser == cParserName || use.Parser == ctagsParserName {
			meta.Limitations = append(meta.Limitations, use.Parser+" recognises declarations by their shape: it expands no macros and reports no syntax errors")
		}
	}
}
