package server

import (
	"context"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type blastRadiusArgs struct {
	GitRef string `json:"git_ref,omitempty" jsonschema:"Compare the working tree with this commit, default HEAD"`
	Depth  int    `json:"depth,omitempty" jsonschema:"Calls to follow outward, default 1"`
	paged
	shared
}

func blastRadius() tool {
	return query(tool{
		name:        "blast_radius",
		title:       "Blast radius",
		description: "Which functions a git diff touches, staged or not, and who calls them, nearest first. Use it before and after an edit.",
		onError:     []string{"find_callers"},
	}, answerBlast)
}

func answerBlast(ctx context.Context, view *nav.View, in blastRadiusArgs) (*envelope, error) {
	found, err := view.Blast(ctx, nav.BlastQuery{GitRef: in.GitRef, Depth: in.Depth, Page: in.page()})
	if err != nil {
		return nil, err
	}
	e := &envelope{
		Results: impact(found.Reached), Total: found.Total, Offset: in.Offset,
		Truncated: in.Offset+len(found.Reached) < found.Total,
		NextTools: []string{"get_symbol_body", "find_callers"},
		Extra: []field{
			{"git_ref", found.GitRef}, {"changed_files", found.ChangedFiles},
			{"changed_functions", found.ChangedFunctions}, {"skipped_broad", orEmpty(found.SkippedBroad)},
		},
	}
	e.Message = fmt.Sprintf("%s and %s changed since %s", plural(found.ChangedFiles, "file"), plural(found.ChangedFunctions, "definition"), found.GitRef)
	if len(found.SkippedBroad) > 0 {
		e.Message += "; too widely used to follow: " + some(found.SkippedBroad)
	}
	return e, nil
}

type impact []nav.Reached

func (r impact) count() int { return len(r) }

func (r impact) MarshalJSON() ([]byte, error) {
	type row struct {
		Symbol   string `json:"symbol"`
		Path     string `json:"path"`
		Line     int    `json:"line"`
		Distance int    `json:"distance"`
		Via      any    `json:"via"`
		Sites    []int  `json:"call_sites"`
	}
	list := make([]row, len(r))
	for i, one := range r {
		sites := one.Sites
		if sites == nil {
			sites = []int{}
		}
		list[i] = row{one.Name, one.Path, one.Line, one.Distance, orNull(one.Via), sites}
	}
	return marshal(list)
}

func (r impact) lines(*envelope) []string {
	out := make([]string, len(r))
	for i, one := range r {
		if one.Distance == 0 {
			out[i] = fmt.Sprintf("[changed] %s  %s:%d%s", one.Name, one.Path, one.Line, removedMark(one.Removed))
			continue
		}
		out[i] = fmt.Sprintf("[%d] %s  %s:%d  uses %s at line %d%s", one.Distance, one.Name, one.Path, one.Line, one.Via, one.Sites[0], moreLines(one.Sites[1:]))
	}
	return out
}

func removedMark(removed bool) string {
	if removed {
		return "  (removed)"
	}
	return ""
}
