package semantic

import "fmt"

// Limits bound what the parser routes read. Each one that is hit is a reason for
// which an inventory is incomplete, named by the word in quotes.
type Limits struct {
	LanguageFiles int   // "sourceFiles": source files of one language
	FileBytes     int64 // "fileBytes": bytes of one file
	SourceBytes   int64 // "sourceBytes": bytes of all files together
	Levels        int   // "directoryLevels": folders above a file
	Entries       int   // "entries": files and folders of the tree
	Declarations  int   // "declarations": declarations of the tree, or of one file
	// OutputChars is how many characters of JSON the declarations of one page may
	// take. A page that is cut by it says so; it is no reason of an inventory.
	OutputChars int
}

// DefaultLimits are those of the contract.
var DefaultLimits = Limits{
	LanguageFiles: 20_000,
	FileBytes:     1 << 20,
	SourceBytes:   128 << 20,
	Levels:        64,
	Entries:       100_000,
	Declarations:  100_000,
	OutputChars:   60_000,
}

// reasons collects why an inventory is incomplete, one sentence for each limit,
// in the order in which they were first hit.
type reasons struct {
	order []string
	count map[string]int
	text  map[string]string
}

// add notes one more case of a reason. The sentence of the first case stays.
func (r *reasons) add(name, format string, args ...any) {
	if r.count == nil {
		r.count, r.text = map[string]int{}, map[string]string{}
	}
	if r.count[name]++; r.count[name] == 1 {
		r.order = append(r.order, name)
		r.text[name] = fmt.Sprintf(format, args...)
	}
}

func (r *reasons) list() []string {
	list := make([]string, len(r.order))
	for i, name := range r.order {
		list[i] = name + ": " + r.text[name]
		if more := r.count[name] - 1; more > 0 {
			list[i] += fmt.Sprintf(" (and %d more)", more)
		}
	}
	return list
}
