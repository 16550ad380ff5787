package java

import (
	"context"
	"errors"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// What one request holds at most. A request that breaks the helper is cut in two
// until the file is found, so that many files at once cost little when all is well.
const (
	batchFiles = 100
	batchBytes = 2 << 20
)

// maxFile is the size above which a file is not read, in bytes.
const maxFile = 1 << 20

var _ semantic.Parser = (*FrontEnd)(nil)

type parseRequest struct {
	Op    string       `json:"op"`
	Files []sourceFile `json:"files"`
}

type parsedFile struct {
	Declarations []semantic.Declaration `json:"declarations"`
	Errors       int                    `json:"errors"`
	Problems     []semantic.Problem     `json:"problems"`
}

// Parse implements [semantic.Parser].
func (f *FrontEnd) Parse(ctx context.Context, files []semantic.File) ([]semantic.Parsed, error) {
	parsed := make([]semantic.Parsed, 0, len(files))
	for len(files) > 0 {
		n := batch(files)
		if n == 0 {
			why := fmt.Sprintf("the file has %d bytes; the limit is %d", len(files[0].Content), maxFile)
			parsed, files = append(parsed, f.given(files[0], why)...), files[1:]
			continue
		}
		some, err := f.parseBatch(ctx, files[:n])
		if err != nil {
			return nil, err
		}
		parsed, files = append(parsed, some...), files[n:]
	}
	return parsed, nil
}

// batch is how many of the files, counted from the first, make one request; 0 when
// the first is too large for any.
func batch(files []semantic.File) int {
	bytes := 0
	for n, file := range files[:min(len(files), batchFiles)] {
		bytes += len(file.Content)
		if len(file.Content) > maxFile || bytes > batchBytes {
			return n
		}
	}
	return min(len(files), batchFiles)
}

func (f *FrontEnd) parseBatch(ctx context.Context, files []semantic.File) ([]semantic.Parsed, error) {
	request := parseRequest{Op: "parse"}
	var contents [][]byte
	for _, file := range files {
		request.Files = append(request.Files, sourceFile{file.Path, len(file.Content)})
		contents = append(contents, file.Content)
	}
	var answer struct {
		Files []parsedFile `json:"files"`
		Error string       `json:"error"`
	}
	err := f.exchange(ctx, f.options.ParseTime, request, contents, &answer)
	if err == nil && len(answer.Files) != len(files) {
		err = fmt.Errorf("%w: %s", errBroke, answer.Error)
	}
	switch {
	case errors.Is(err, errBroke) && len(files) == 1:
		return f.given(files[0], err.Error()), nil
	case errors.Is(err, errBroke):
		first, err := f.parseBatch(ctx, files[:len(files)/2])
		if err != nil {
			return nil, err
		}
		second, err := f.parseBatch(ctx, files[len(files)/2:])
		return append(first, second...), err
	case err != nil:
		return nil, err
	}
	parser := f.name()
	parsed := make([]semantic.Parsed, len(files))
	for i, file := range files {
		a := answer.Files[i]
		setPath(a.Declarations, file.Path)
		parsed[i] = semantic.Parsed{Path: file.Path, Parser: parser, Declarations: a.Declarations, Complete: a.Errors == 0, Problems: a.Problems}
	}
	return parsed, nil
}

// given is the answer about a file that cannot be read.
func (f *FrontEnd) given(file semantic.File, why string) []semantic.Parsed {
	return []semantic.Parsed{{Path: file.Path, Parser: f.name(), Problems: []semantic.Problem{{Path: file.Path, Message: why}}}}
}

func setPath(declarations []semantic.Declaration, path string) {
	for i := range declarations {
		declarations[i].Path = path
		setPath(declarations[i].Children, path)
	}
}
