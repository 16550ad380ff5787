package server

import (
	"fmt"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// render is the one place where an answer becomes what an agent reads.
func render(e *envelope, format string) string {
	if format == "json" {
		out, err := marshal(e)
		if err != nil {
			return fmt.Sprintf(`{"tool":%q,"error":"the answer cannot be written as JSON: %v"}`, e.Tool, err)
		}
		return string(out)
	}
	return strings.Join(textLines(e), "\n")
}

func textLines(e *envelope) []string {
	var out []string
	if e.Error != "" {
		out = append(out, "Error: "+e.Error)
	} else {
		out = append(out, e.summary()...)
		if e.Message != "" {
			out = append(out, e.Message)
		}
		if e.Results != nil {
			out = append(out, e.Results.lines(e)...)
			out = append(out, e.footer()...)
		}
	}
	if len(e.Suggestions) > 0 {
		out = append(out, "similar: "+strings.Join(e.Suggestions, ", "))
	}
	if e.Warning != "" {
		out = append(out, "warning: "+e.Warning)
	}
	if len(e.NextTools) > 0 {
		out = append(out, "next: "+strings.Join(e.NextTools, ", "))
	}
	return out
}

// summary is the line that says what is known about the symbol as a whole.
func (e *envelope) summary() []string {
	var parts []string
	if e.Definitions != nil {
		part := plural(*e.Definitions, "definition")
		if e.GuardVariants != nil && *e.GuardVariants > 0 {
			part += " under " + plural(*e.GuardVariants, "#if variant")
		}
		parts = append(parts, part)
	}
	if e.References != nil && *e.References > 0 {
		part := plural(*e.References, "ref") + " in " + plural(*e.Files, "file")
		if len(e.TopFiles) > 0 && *e.Files > 1 {
			part += " (top: " + topFiles(e.TopFiles, *e.Files) + ")"
		}
		parts = append(parts, part)
	}
	if e.Exported != "" {
		parts = append(parts, e.Exported)
	}
	if len(parts) == 0 {
		return nil
	}
	line := e.Symbol + ": " + strings.Join(parts, " · ")
	if e.ResolvedVia != "" {
		line += " (resolved via " + e.ResolvedVia + ")"
	}
	return []string{line}
}

func topFiles(top []nav.FileCount, files int) string {
	parts := make([]string, 0, len(top)+1)
	for _, f := range top {
		parts = append(parts, fmt.Sprintf("%s %d", f.Path, f.Count))
	}
	if files > len(top) {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// footer says which part of a longer answer this is.
func (e *envelope) footer() []string {
	n := e.Results.count()
	switch {
	case e.Truncated && e.rest != "":
		return []string{e.rest}
	case e.Truncated:
		why := ""
		if e.early {
			why = ", cut at 12,000 characters"
		}
		return []string{fmt.Sprintf("[%d-%d of %d%s · offset=%d for more]", e.Offset+1, e.Offset+n, e.Total, why, e.Offset+n)}
	case e.Offset > 0 && n > 0:
		return []string{fmt.Sprintf("[%d-%d of %d]", e.Offset+1, e.Offset+n, e.Total)}
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
