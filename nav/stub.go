package nav

import (
	"path"
	"slices"
	"strings"
)

// rareOptions are options of the Linux kernel that hardly any configuration sets.
// What they guard is not what a name usually means; what their absence guards is.
var rareOptions = []string{
	"CONFIG_PREEMPT_RT", "CONFIG_TRACE_BRANCH_PROFILING", "CONFIG_HIGHPTE", "NR_CPUS == 1",
	"CONFIG_DEBUG_LOCK_ALLOC", "CONFIG_DEBUG_SPINLOCK", "CONFIG_DEBUG_VIRTUAL", "CONFIG_DEBUG_CREDENTIALS",
	"CONFIG_DEBUG_PREEMPT", "CONFIG_DEBUG_VM", "CONFIG_DEBUG_PAGEALLOC",
}

// rareFiles match files of the Linux kernel that stand in for others in rare
// configurations: real time, no MMU, tiny, the allocators that are not SLUB.
var rareFiles = []string{"*_rt.*", "*tiny.*", "nommu.*", "slob.*", "slab.c"}

// stub reports whether a definition is what a header offers when the feature is
// configured out, or what only a rare configuration compiles.
func stub(s *Symbol) bool {
	base := path.Base(s.Path)
	if slices.ContainsFunc(rareFiles, func(pattern string) bool { ok, _ := path.Match(pattern, base); return ok }) {
		return true
	}
	if !strings.HasSuffix(s.Path, ".h") || s.Kind != "function" && s.Kind != "macro" {
		return false
	}
	return slices.ContainsFunc(s.Conditions(), func(condition string) bool {
		option, without := strings.CutPrefix(condition, "!")
		if slices.ContainsFunc(rareOptions, func(rare string) bool { return strings.Contains(option, rare) }) {
			return !without
		}
		// A header that the assembler reads too keeps its functions from it.
		return without && !strings.HasPrefix(option, "__ASSEMBL") && !strings.HasPrefix(option, "__GENERATING_")
	})
}
