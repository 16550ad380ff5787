package macro

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// minted are the names that a call mints, each with its label, role and rank.
func minted(t *Table, file, call string) []string {
	var all []string
	m, args, ok := ParseCall(call)
	if !ok {
		return nil
	}
	for _, n := range t.Minted(file, m, args) {
		all = append(all, fmt.Sprintf("%s %s %s %d", n.Name, n.Label, n.Role, n.Rank))
	}
	return all
}

// TestMinted: calls as they stand in the kernel, with names that they make and
// names that they do not.
func TestMinted(t *testing.T) {
	for _, c := range []struct {
		call      string
		want, not []string
	}{
		{"SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf, size_t, count)",
			[]string{"sys_read macro:SYSCALL_DEFINE define 1", "__x64_sys_read macro:SYSCALL_DEFINE define 1", "__do_sys_read macro:SYSCALL_DEFINE define 1",
				"__se_sys_read macro:SYSCALL_DEFINE define 1", "__ia32_sys_read macro:SYSCALL_DEFINE define 1", "__arm64_sys_read macro:SYSCALL_DEFINE define 1",
				"__riscv_sys_read macro:SYSCALL_DEFINE define 1", "__s390x_sys_read macro:SYSCALL_DEFINE define 1", "__syscall_meta__read macro:SYSCALL_DEFINE define 1"},
			[]string{"read", "compat_sys_read"}},
		{"SYSCALL_DEFINE0(getpid)", []string{"sys_getpid macro:SYSCALL_DEFINE define 1"}, nil},
		{"COMPAT_SYSCALL_DEFINE3(ioctl, unsigned int, fd)", []string{"compat_sys_ioctl macro:COMPAT_SYSCALL_DEFINE define 1",
			"__ia32_compat_sys_ioctl macro:COMPAT_SYSCALL_DEFINE define 1", "__do_compat_sys_ioctl macro:COMPAT_SYSCALL_DEFINE define 1"}, []string{"sys_ioctl"}},
		{"COND_SYSCALL(io_setup);", []string{"sys_io_setup macro:COND_SYSCALL declare 3"}, nil},
		{"SYSCALL_DEFINEx(3, _read, 1)", nil, []string{"sys_3", "sys__read"}},
		{"TRACE_EVENT(sched_switch,\n\n\tTP_PROTO(bool preempt,", []string{"trace_sched_switch macro:TRACE_EVENT define 1",
			"trace_sched_switch_enabled macro:TRACE_EVENT define 1", "register_trace_sched_switch macro:TRACE_EVENT define 1",
			"__tracepoint_sched_switch macro:TRACE_EVENT define 1", "trace_event_raw_sched_switch macro:TRACE_EVENT define 1"}, []string{"sched_switch"}},
		{"TRACE_EVENT_FLAGS(x, 1)", nil, []string{"trace_x"}},
		{"DEFINE_EVENT(sched_wakeup_template, sched_waking,\n\t     TP_PROTO(struct task_struct *p),",
			[]string{"trace_sched_waking macro:DEFINE_EVENT define 1", "event_sched_waking macro:DEFINE_EVENT define 1"},
			[]string{"trace_sched_wakeup_template", "sched_wakeup_template", "sched_waking", "trace_event_raw_sched_waking"}},
		{"DECLARE_EVENT_CLASS(sched_wakeup_template,\n", []string{"trace_event_raw_sched_wakeup_template macro:DECLARE_EVENT_CLASS define 1"},
			[]string{"trace_sched_wakeup_template", "sched_wakeup_template"}},
		{"DEFINE_INODE_EVENT(xfs_iget_skip);", []string{"trace_xfs_iget_skip macro:DEFINE_EVENT define 2"}, []string{"xfs_iget_skip"}},
		{"DEFINE_SMB3_RW_ERR_EVENT(write_err);", []string{"trace_smb3_write_err macro:DEFINE_EVENT define 2"}, []string{"trace_write_err"}},
		{"DECLARE_TRACE(pelt_cfs_tp,", []string{"trace_pelt_cfs_tp macro:DECLARE_TRACE define 1"}, nil},
		{"DEVICE_ATTR_RO(vendor);", []string{"dev_attr_vendor macro:DEVICE_ATTR define 1"}, []string{"vendor", "vendor_show"}},
		{"DEVICE_ATTR(name, S_IRUGO, show_name, NULL);", []string{"dev_attr_name macro:DEVICE_ATTR define 1"}, []string{"show_name"}},
		{"ATTRIBUTE_GROUPS(pci_bus);", []string{"pci_bus_group macro:ATTRIBUTE_GROUPS define 1", "pci_bus_groups macro:ATTRIBUTE_GROUPS define 1"}, []string{"pci_bus_attrs"}},
		{"CONFIGFS_ATTR(nvmet_, addr_adrfam);", []string{"nvmet_attr_addr_adrfam macro:CONFIGFS_ATTR define 1"}, nil},
		{"DEFINE_SHOW_ATTRIBUTE(stats);", []string{"stats_fops macro:DEFINE_SHOW_ATTRIBUTE define 1", "stats_open macro:DEFINE_SHOW_ATTRIBUTE define 1"}, []string{"stats", "stats_show"}},
		{"DEFINE_PER_CPU(struct rq, runqueues);", []string{"runqueues macro:DEFINE_PER_CPU define 1"}, []string{"struct rq", "rq"}},
		{"DEFINE_PER_CPU_SHARED_ALIGNED(struct rq, runqueues);", []string{"runqueues macro:DEFINE_PER_CPU define 1"}, nil},
		{"DEFINE_PER_CPU(char *, cpu_name[2]) = 1", []string{"cpu_name macro:DEFINE_PER_CPU define 1"}, nil},
		{"DECLARE_PER_CPU(struct rq, runqueues);", []string{"runqueues macro:DECLARE_PER_CPU declare 3"}, nil},
		{"LIST_HEAD(super_blocks);", []string{"super_blocks macro:LIST_HEAD define 1"}, nil},
		{"DEFINE_MUTEX(bdev_lock);", []string{"bdev_lock macro:DEFINE_* define 2"}, nil},
		{"DECLARE_WORK(mywork, a);", []string{"mywork macro:DECLARE_WORK define 1"}, []string{"a"}},
		{"DECLARE_STATIC_KEY_FALSE(x);", []string{"x macro:DECLARE_* declare 3"}, nil},
		{"DEFINE_RES_MEM(START, 4)", nil, []string{"START"}},
		{"DECLARE_PCI_FIXUP_HEADER(PCI_VENDOR_ID_X, 1, hook)", nil, []string{"PCI_VENDOR_ID_X", "hook"}},
		{"DEFINE_STATIC_CALL(x86_pmu_handle_irq, *x86_pmu.handle_irq);", []string{"__SCK__x86_pmu_handle_irq macro:DEFINE_STATIC_CALL define 1"}, nil},
		{"module_param_named(quiet, quiet_mode, int, 0644);", []string{"quiet macro:module_param define 2", "__param_quiet macro:module_param define 2"}, []string{"quiet_mode"}},
		{"module_platform_driver(foo_driver);", []string{"foo_driver_init macro:module_driver define 1", "foo_driver_exit macro:module_driver define 1"}, []string{"foo_driver"}},
		{"PAGEFLAG(Referenced, referenced, PF_HEAD)", []string{"PageReferenced macro:PAGEFLAG define 1", "SetPageReferenced macro:PAGEFLAG define 1",
			"folio_test_referenced macro:PAGEFLAG define 1"}, []string{"PageReferencedreferenced"}},
		{"BUFFER_FNS(Uptodate, uptodate)", []string{"buffer_uptodate macro:BUFFER_FNS define 1", "set_buffer_uptodate macro:BUFFER_FNS define 1"}, nil},
		{"BPF_CALL_2(bpf_map_lookup_elem, struct bpf_map *, map, void *, key)", []string{"bpf_map_lookup_elem macro:BPF_CALL define 1"}, nil},
		{"DEFINE_IDTENTRY_SYSVEC(sysvec_reboot)", []string{"sysvec_reboot macro:DEFINE_IDTENTRY define 1", "__sysvec_reboot macro:DEFINE_IDTENTRY define 1"}, nil},
		{"INTERVAL_TREE_DEFINE(struct a, rb, long, x, START, LAST,\n static, vma_interval_tree)", []string{"vma_interval_tree_insert macro:INTERVAL_TREE_DEFINE define 1"}, nil},
		{"SYM_FUNC_START(memcpy)", []string{"memcpy macro:SYM_START define 1"}, nil},
		{"ENTRY(memcpy)", nil, []string{"memcpy"}},
		{"EXPORT_SYMBOL_GPL(kfree)", []string{"kfree macro:EXPORT_SYMBOL export 1"}, nil},
		{"EXPORT_SYMBOL_NS_GPL(dma_buf_get, DMA_BUF)", []string{"dma_buf_get macro:EXPORT_SYMBOL export 1"}, []string{"DMA_BUF"}},
		{"ACPI_EXPORT_SYMBOL(acpi_get_name)", []string{"acpi_get_name macro:EXPORT_SYMBOL export 1"}, nil},
		{"EXPORT_TRACEPOINT_SYMBOL_GPL(sched_switch)", []string{"__tracepoint_sched_switch macro:EXPORT_TRACEPOINT_SYMBOL export 1"}, []string{"sched_switch"}},
		{"subsys_initcall(pci_init);", []string{"pci_init macro:module_init init 1"}, nil},
		{"early_param(\"quiet\", quiet_kernel);", []string{"quiet_kernel macro:early_param init 1"}, []string{"\"quiet\""}},
		{"printk(KERN_INFO)", nil, []string{"KERN_INFO"}},
		{"DEFINE_MUTEX()", nil, []string{""}},
		{"DEFINE_MUTEX(a->b)", nil, []string{"a", "b", "a->b"}},
	} {
		got := minted(Builtin(), "a.c", c.call)
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: no %q in %q", c.call, w, got)
			}
		}
		for _, g := range got {
			if name, _, _ := strings.Cut(g, " "); slices.Contains(c.not, name) {
				t.Errorf("%q: %q is wrong", c.call, g)
			}
		}
		if c.want == nil && len(got) > 0 {
			t.Errorf("%q: got %q, want nothing", c.call, got)
		}
	}
	if got := minted(Builtin(), "lib/memcpy.S", "ENTRY(memcpy)"); !slices.Contains(got, "memcpy macro:ENTRY define 1") {
		t.Errorf("ENTRY in assembly: got %q", got)
	}
}

// TestCandidates: the call that a person would look for is among the candidates,
// and before those of a lower rank.
func TestCandidates(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"sys_read", "SYSCALL_DEFINE* 0:read macro:SYSCALL_DEFINE"},
		{"__x64_sys_read", "SYSCALL_DEFINE* 0:read macro:SYSCALL_DEFINE"},
		{"__ia32_compat_sys_ioctl", "COMPAT_SYSCALL_DEFINE* 0:ioctl macro:COMPAT_SYSCALL_DEFINE"},
		{"trace_sched_switch", "TRACE_EVENT 0:sched_switch macro:TRACE_EVENT"},
		{"trace_sched_switch", "DEFINE_EVENT 1:sched_switch macro:DEFINE_EVENT"},
		{"dev_attr_vendor", "DEVICE_ATTR_* 0:vendor macro:DEVICE_ATTR"},
		{"stats_fops", "DEFINE_SHOW_ATTRIBUTE 0:stats macro:DEFINE_SHOW_ATTRIBUTE"},
		{"nvmet_attr_addr_adrfam", "CONFIGFS_ATTR 1:addr_adrfam 0:nvmet_ macro:CONFIGFS_ATTR"},
		{"runqueues", "DEFINE_PER_CPU 1:runqueues macro:DEFINE_PER_CPU"},
		{"bdev_lock", "DEFINE_* 0:bdev_lock macro:DEFINE_*"},
		{"PageDirty", "PAGEFLAG 0:Dirty macro:PAGEFLAG"},
	} {
		var got []string
		rank := 0
		for _, cand := range Builtin().Candidates(c.name) {
			if cand.Rank < rank {
				t.Errorf("%s: %+v comes after a candidate of rank %d", c.name, cand, rank)
			}
			rank = cand.Rank
			got = append(got, describe(cand))
		}
		if !slices.Contains(got, c.want) {
			t.Errorf("%s: no %q in %q", c.name, c.want, got)
		}
	}
	marks := Builtin().Marks("kfree")
	if !slices.ContainsFunc(marks, func(c Candidate) bool { return c.Macro == "EXPORT_SYMBOL" && c.Role == Export }) {
		t.Errorf("marks of kfree: %+v", marks)
	}
	for _, m := range marks {
		if m.Role == Define || m.Role == Declare {
			t.Errorf("%+v is no mark", m)
		}
	}
}

func describe(c Candidate) string {
	s := c.Macro
	for _, a := range c.Args {
		s += fmt.Sprintf(" %d:%s", a.Index, a.Text)
	}
	return s + " " + c.Label
}

// TestTwoQuestionsAgree: every name that a call mints has a candidate that this
// call satisfies, and the call that a candidate describes mints the name.
func TestTwoQuestionsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	table := Builtin()
	words := []string{"a", "read", "x_attr_y", "sys_read", "attr_", "_", "event_class_z", "nine9", "trace_b_enabled"}
	names := 0
	for range 150 {
		macro, args := randomMacro(r, table), make([]string, 9)
		for i := range args {
			args[i] = words[r.IntN(len(words))]
		}
		for _, n := range table.Minted("a.S", macro, args) {
			names++
			candidates := append(table.Candidates(n.Name), table.Marks(n.Name)...)
			if !slices.ContainsFunc(candidates, func(c Candidate) bool {
				return c.Label == n.Label && c.Role == n.Role && c.Rank == n.Rank && satisfies(macro, args, c)
			}) {
				t.Fatalf("%s(%q) mints %+v, but no candidate says so", macro, args, n)
			}
			checkCandidate(t, table, n.Name, candidates[r.IntN(len(candidates))])
		}
	}
	if names < 300 {
		t.Errorf("only %d names", names)
	}
}

// checkCandidate makes the call that the candidate describes. A pattern stands for
// macros of which some belong to other families, so only a plain name must mint.
func checkCandidate(t *testing.T, table *Table, name string, c Candidate) {
	t.Helper()
	if strings.Contains(c.Macro, "*") {
		return
	}
	call := make([]string, 9)
	for _, a := range c.Args {
		call[a.Index] = a.Text
	}
	minted := table.Minted("a"+c.Files, c.Macro, call)
	if !slices.ContainsFunc(minted, func(n Name) bool {
		return n.Name == name && n.Label == c.Label && n.Role == c.Role && n.Rank == c.Rank
	}) {
		t.Fatalf("%s(%q) mints %+v, not %s as %+v says", c.Macro, call, minted, name, c)
	}
}

func randomMacro(r *rand.Rand, t *Table) string {
	f := t.families[r.IntN(len(t.families))]
	p := f.patterns[r.IntN(len(f.patterns))]
	return strings.Replace(p.text, "*", []string{"", "X", "_EVENT", "3"}[r.IntN(4)], 1)
}

func satisfies(macro string, args []string, c Candidate) bool {
	p, err := parsePattern(c.Macro)
	return err == nil && p.match(macro) && !slices.ContainsFunc(c.Args, func(a Arg) bool { return args[a.Index] != a.Text })
}

func TestOwnFamilies(t *testing.T) {
	table, err := New([]Family{
		{Label: "MY_QUEUE", Macros: []string{"MY_QUEUE_*"}, Names: []string{"{1}_push"}},
		{Macros: []string{"DEFINE_MUTEX"}, Names: []string{"my_{2}"}},
		{Macros: []string{"DEFINE_*"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"MY_QUEUE_INT(q)":        "q_push macro:MY_QUEUE define 1",
		"DEFINE_MUTEX(a, b)":     "my_b macro:DEFINE_MUTEX define 1",
		"DEFINE_SPINLOCK(a)":     "",
		"DEFINE_PER_CPU(int, x)": "x macro:DEFINE_PER_CPU define 1",
	} {
		if got := strings.Join(minted(table, "a.c", call), ", "); got != want {
			t.Errorf("%s: got %q, want %q", call, got, want)
		}
	}
	if got := minted(Builtin(), "a.c", "DEFINE_SPINLOCK(a)"); len(got) != 1 {
		t.Errorf("the built-in table changed: %q", got)
	}
}

func TestBadFamilies(t *testing.T) {
	for _, c := range []struct {
		family Family
		want   string
	}{
		{Family{Names: []string{"{1}"}}, "(no label): macros is empty: name the macros of the family"},
		{Family{Label: "L", Macros: []string{"*"}}, `(L): macro "*": want a name, which may have one * for any text`},
		{Family{Label: "L", Macros: []string{"A B"}}, `(L): macro "A B": want a name, which may have one * for any text`},
		{Family{Label: "L", Macros: []string{"A*B*"}}, `(L): macro "A*B*": want a name, which may have one * for any text`},
		{Family{Label: "L", Macros: []string{"A"}, Names: []string{"x"}}, `(L): name "x": want text around {1}, the first argument, or another up to {9}`},
		{Family{Label: "L", Macros: []string{"A"}, Names: []string{"{0}"}}, `(L): name "{0}": want text around {1}, the first argument, or another up to {9}`},
		{Family{Label: "L", Macros: []string{"A"}, Names: []string{"{1}{2}"}}, `(L): name "{1}{2}": two arguments need text between them, or they cannot be told apart`},
		{Family{Label: "L", Macros: []string{"A"}, Role: "x"}, `(L): role "x": want "define", "declare", "export" or "init"`},
	} {
		if _, err := New([]Family{c.family}); err == nil || err.Error() != "macro family 1 "+c.want {
			t.Errorf("%+v: got %v, want %s", c.family, err, c.want)
		}
	}
}

func TestVariants(t *testing.T) {
	for name, want := range map[string]string{
		"kfree": "_kfree __kfree kfree_ ___kfree __kfree__", "_": "", "": "",
		"__kmalloc": "_kmalloc ___kmalloc ____kmalloc kmalloc __kmalloc_ _____kmalloc __kmalloc__",
	} {
		if got := strings.Join(Variants(name), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestParseCall(t *testing.T) {
	for text, want := range map[string]string{
		"F(a, b)": "F:a|b", "F ( a )": "F:a", "F()": "F:", "F( , )": "F:|", "F(a(b, c), {d, e}, f[1, 2])": "F:a(b, c)|{d, e}|f[1, 2]",
		`F("a, b)", 'c', ',')`: `F:"a, b)"|'c'|','`, `F("\",", x)`: `F:"\","|x`, "F(a /* , */, // ,)\n b) c, d": "F:a|b", "F(a, \\\n b)": "F:a|b",
		"F(a, b": "F:a", "F(a": "F:", "F(a, \"b": "F:a", "F \\\n(a)": "F:a", "F(a /*, b)": "F:",
	} {
		m, args, ok := ParseCall(text)
		if got := m + ":" + strings.Join(args, "|"); !ok || got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"", "(a)", "F", "F a(b)", "F;(a)", " F(a)"} {
		if m, args, ok := ParseCall(text); ok {
			t.Errorf("%q: got %s(%q), want no call", text, m, args)
		}
	}
}

// FuzzParseCall: any text is read, and what it mints are names.
func FuzzParseCall(f *testing.F) {
	for _, s := range []string{"DEFINE_X(a, b)", "SYSCALL_DEFINE3(read, \"x\", 'y')", "F(/*", "F((((", "F(a,\\\n b)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, args, ok := ParseCall(text)
		if ok && (m == "" || !strings.HasPrefix(text, m)) {
			t.Fatalf("macro %q", m)
		}
		for _, n := range Builtin().Minted("a.S", m, args) {
			if !isName(n.Name) {
				t.Fatalf("name %q", n.Name)
			}
		}
	})
}

// FuzzCandidates: every candidate for a name is a call that mints it.
func FuzzCandidates(f *testing.F) {
	f.Add("__x64_sys_read")
	f.Add("a_attr_b_attr_c")
	f.Fuzz(func(t *testing.T, name string) {
		for _, c := range append(Builtin().Candidates(name), Builtin().Marks(name)...) {
			if !isName(name) {
				t.Fatalf("candidate %+v for %q, which is no name", c, name)
			}
			checkCandidate(t, Builtin(), name, c)
		}
		Variants(name)
	})
}

func BenchmarkCandidates(b *testing.B) {
	for b.Loop() {
		if len(Builtin().Candidates("__x64_sys_read")) == 0 {
			b.Fatal("none")
		}
	}
}

// BenchmarkMinted asks about macros as an index build does: mostly unknown ones.
func BenchmarkMinted(b *testing.B) {
	calls := []struct {
		macro string
		args  []string
	}{
		{"printk", []string{"KERN_INFO"}}, {"MODULE_LICENSE", []string{`"GPL"`}}, {"DEFINE_MUTEX", []string{"bdev_lock"}},
		{"DEVICE_ATTR_RO", []string{"vendor"}}, {"MODULE_ALIAS", []string{`"x"`}}, {"TRACE_EVENT", []string{"sched_switch"}},
		{"REG_FIELD", []string{"A", "1"}}, {"EXPORT_SYMBOL_GPL", []string{"kfree"}},
	}
	for b.Loop() {
		for _, c := range calls {
			Builtin().Minted("fs/a.c", c.macro, c.args)
		}
	}
}
