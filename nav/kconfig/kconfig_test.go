package kconfig

import (
	"io/fs"
	"reflect"
	"testing"
)

// tree is a small tree with what Kconfig files of Linux are made of.
var tree = map[string]string{
	"Kconfig": `mainmenu "A tree for $(ARCH)"
source "arch/$(SRCARCH)/Kconfig"
source "drivers/Kconfig"
source "lib/Kconfig.debug"
`,
	"arch/x86/Kconfig": `config 64BIT
	bool "64-bit" if "$(ARCH)" = "x86"
	default "$(ARCH)" != "i386"
config X86_32
	def_bool y
	depends on !64BIT
config X86_PAE
	bool "PAE"
	depends on X86_32
config X86
	def_bool y
	select HAVE_BLOB if CC_HAS_BLOB
config PARAVIRT_XXL
	bool
config XEN_PV
	bool "Xen PV"
	select PARAVIRT_XXL
config CC_HAS_BLOB
	def_bool $(cc-option,-mblob)
config IS_CLANG
	def_bool $(success,test "$(cc-name)" = Clang)
config NR_CPUS
	int "CPUs"
	range 2 512
	default 64
`,
	"arch/x86/Makefile":                 `KBUILD_DEFCONFIG := i386_defconfig` + "\n" + `  KBUILD_DEFCONFIG := x86_64_defconfig` + "\n",
	"arch/x86/configs/i386_defconfig":   "# CONFIG_64BIT is not set\n",
	"arch/x86/configs/x86_64_defconfig": "CONFIG_MODULES=y\nCONFIG_NET=y\nCONFIG_LOOP=m\nCONFIG_NR_CPUS=8\n# CONFIG_BLOCK is not set\n",
	"drivers/Kconfig": `config MODULES
	bool "Modules"
	modules
config HAVE_BLOB
	bool
menuconfig NET
	bool "Networking"
	help
	  Says: config FAKE
	    select NOTHING

	  and ends here.
if NET
config NET_SUB
	bool "Sub" if EXPERT
	default y
	depends on 64BIT && \
		!X86_32
config GPIO
	tristate "GPIO"
	select GPIO_CORE
endif
config GPIO_CORE
	tristate
config BLOCK
	bool "Block"
	default y
config LOOP
	tristate "Loop"
config LOOP_HELP
	tristate
	default LOOP
choice
	prompt "Allocator"
	default SLUB
config SLAB
	bool "SLAB"
config SLUB
	bool "SLUB"
endchoice
config SLAB_COUNT
	bool
	default y if SLAB
config COMPILE_TEST
	bool "Compile what cannot run"
config ARM_THING
	bool "Thing of ARM"
	depends on ARM || COMPILE_TEST
config IP_DEBUG_X
	bool "Talk"
config WEAK
	bool "Weak"
	depends on GPIO
config WISH
	bool "Wish"
	imply WISHED
	default y
config WISHED
	bool "Wished"
`,
	"lib/Kconfig.debug": "config LOCKDEP\n\tbool \"lock checks\"\nsource \"lib/Kconfig.kasan\"\n",
	"lib/Kconfig.kasan": "config KASAN\n\tbool \"address checks\"\n",
}

func read(path string) ([]byte, error) {
	if text, ok := tree[path]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func TestLoad(t *testing.T) {
	c, err := Load(read, "x86")
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		state State
		text  string
	}
	for name, want := range map[string]answer{
		"64BIT": {On, "y"}, "X86_32": {Off, ""}, "X86_PAE": {Off, ""}, "X86": {On, "y"},
		"HAVE_BLOB": {On, "y"}, "IS_CLANG": {Never, ""}, "NR_CPUS": {On, "8"},
		"NET": {On, "y"}, "NET_SUB": {On, "y"}, "FAKE": {Never, ""},
		"GPIO": {Open, ""}, "GPIO_CORE": {Open, ""}, "WEAK": {Open, ""},
		"BLOCK": {Open, ""}, "LOOP": {On, "m"}, "LOOP_HELP": {On, "m"},
		"SLUB": {On, "y"}, "SLAB": {Off, ""}, "SLAB_COUNT": {Off, ""}, "ARM_THING": {Never, ""},
		"PARAVIRT_XXL": {Off, ""}, "XEN_PV": {Off, ""}, "IP_DEBUG_X": {Off, ""},
		"LOCKDEP": {Off, ""}, "KASAN": {Off, ""}, "WISH": {On, "y"}, "WISHED": {On, "y"},
	} {
		state, text := c.State(name)
		if got := (answer{state, text}); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestAssuming(t *testing.T) {
	c, err := Load(read, "x86")
	if err != nil {
		t.Fatal(err)
	}
	with := c.Assuming([]string{"WEAK", "KASAN", "ARM_THING", "UNHEARD_OF"})
	for name, want := range map[string]State{
		"WEAK": On, "GPIO": On, "GPIO_CORE": On, "KASAN": On, "ARM_THING": Never, "UNHEARD_OF": Never, "LOCKDEP": Off, "NET": On,
	} {
		if got, _ := with.State(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got, _ := c.State("KASAN"); got != Off {
		t.Error("the configuration without the assumption has changed")
	}
}

func TestMissing(t *testing.T) {
	c, err := Load(read, "x86")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Missing([]string{"NET", "ARM_THING"}); !reflect.DeepEqual(got, []string{"ARM_THING", "ARM"}) {
		t.Errorf("got %v, want ARM_THING and ARM", got)
	}
}

func TestNoKconfig(t *testing.T) {
	if _, err := Load(func(string) ([]byte, error) { return nil, fs.ErrNotExist }, "x86"); err == nil {
		t.Error("no error for a tree without Kconfig files")
	}
}

func TestBuilt(t *testing.T) {
	files := map[string]string{
		"Kbuild": "obj-y += mm/\nobj-$(CONFIG_NET) += net/ # comment\nobj-y += fs/\n",
		"mm/Makefile": "mmu-y := nommu.o\nmmu-$(CONFIG_MMU) := memory.o \\\n\tmremap.o\nobj-y := slab_common.o $(mmu-y)\n" +
			"ifdef CONFIG_SMP\nobj-y += percpu.o\nelse\nobj-y += up.o\nendif\nlib-y += copy_$(BITS).o\n",
		"net/Makefile":    "obj-$(subst m,y,$(CONFIG_INET)) += ipv4/\n",
		"net/ipv4/Kbuild": "obj-$(CONFIG_TCP) += tcp.o\ntcp-y := core.o sub/part.o\ntcp-$(CONFIG_MD5) += md5.o\n",
		"fs/Makefile":     "obj-$(CONFIG_A) += both.o\nobj-$(CONFIG_B) += both.o\nprog-y := tool.o\n",
	}
	m := NewMakefiles(func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	})
	for file, want := range map[string][][]string{
		"mm/slab_common.c": {nil}, "mm/nommu.c": {{"!MMU"}}, "mm/mremap.c": {{"MMU"}},
		"mm/percpu.c": {{"SMP"}}, "mm/up.c": {{"!SMP"}}, "mm/copy_32.S": {{"!64BIT"}},
		"net/ipv4/core.c": {{"TCP", "INET", "NET"}}, "net/ipv4/sub/part.c": {{"TCP", "INET", "NET"}},
		"net/ipv4/md5.c": {{"MD5", "TCP", "INET", "NET"}},
		"fs/both.c":      {{"A"}, {"B"}}, "fs/tool.c": nil, "fs/unlisted.c": nil, "mm/slab.h": nil,
	} {
		got, ok := m.Built(file)
		if ok != (want != nil) {
			t.Errorf("%s: found %v", file, ok)
		}
		for i := range got {
			if len(got[i]) == 0 {
				got[i] = nil
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(tree["drivers/Kconfig"], tree["arch/x86/configs/x86_64_defconfig"])
	f.Add("config A\n\tbool \"a\" if ((!B\n\tdepends on A = \"$(x\n\tdefault A if A < 0x\n", "CONFIG_A=y")
	f.Add("choice\nendchoice\nendif\nendmenu\nmenu \"x\nif $(\nsource \"Kconfig\"\n", "=")
	f.Add("config A\n\tint\n\tdefault B\nconfig B\n\tint\n\tdefault A\n", "")
	f.Fuzz(func(t *testing.T, kconfig, set string) {
		files := map[string]string{"Kconfig": kconfig, "arch/x/defconfig": set}
		c, err := Load(func(path string) ([]byte, error) {
			if text, ok := files[path]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}, "x")
		if err != nil {
			t.Fatal(err)
		}
		for name := range c.options {
			if state, text := c.State(name); state == On && text == "" {
				t.Errorf("%q is on and has no value", name)
			}
			c.Assuming([]string{name})
		}
	})
}

func FuzzBuilt(f *testing.F) {
	f.Add("a-y := b.o $(a-y)\nobj-y += a.o\nifdef CONFIG_X\nelse\nobj-$(CONFIG_Y) := b.o\n", "x/b.c")
	f.Fuzz(func(t *testing.T, makefile, file string) {
		m := NewMakefiles(func(string) ([]byte, error) { return []byte(makefile), nil })
		m.Built(file)
	})
}
