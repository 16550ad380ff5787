package csource

import "testing"

// TestEntryEndsAtItsEndMacro: what follows the END macro of an entry is outside,
// also when it names the entry and no other one follows at once.
func TestEntryEndsAtItsEndMacro(t *testing.T) {
	const src = "SYM_FUNC_START(a)\n\tret\nSYM_FUNC_END(a)\nNOKPROBE(a)\n\n\nENTRY(b)\n1:\tret\nENDPROC(b)\n_ASM_NOKPROBE(b)\n"
	want := map[string][2]int{"a": {1, 3}, "b": {7, 9}}
	for _, s := range Scan([]byte(src), Assembly).Symbols() {
		if s.Kind != Label {
			continue
		}
		if got := [2]int{s.Start, s.End}; got != want[s.Name] {
			t.Errorf("%s: got lines %v, want %v", s.Name, got, want[s.Name])
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
