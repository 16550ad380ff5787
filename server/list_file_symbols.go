package server

import (
	"context"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type listFileSymbolsArgs struct {
	FilePath string `json:"file_path" jsonschema:"File, relative to the project root or absolute"`
	paged
	shared
}

func listFileSymbols() tool {
	return query(tool{
		name:        "list_file_symbols",
		title:       "List file symbols",
		description: "Outline of one file: every symbol it defines, in line order. Read this before opening a large file.",
		onError:     []string{"find_definition"},
	}, answerFileSymbols)
}

func answerFileSymbols(ctx context.Context, view *nav.View, in listFileSymbolsArgs) (*envelope, error) {
	found, err := view.Outline(ctx, nav.OutlineQuery{Path: in.FilePath, Page: in.page()})
	if err != nil {
		return nil, err
	}
	e := symbolEnvelope("", found.Symbols, found.Total, in.paged)
	e.Results = outlineRecords(found.Symbols)
	e.NextTools = []string{"get_symbol_body", "find_references"}
	if found.Total == 0 {
		e.Message = found.Path + " defines no symbols"
	}
	return e, nil
}
