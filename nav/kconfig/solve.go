package kconfig

import "maps"

// solver computes the values of options as Kconfig's own programs do.
type solver struct {
	symbols map[string]*symbol
	set     map[string]string // by the defconfig
	modules bool

	selectors map[string][]selector
	impliers  map[string][]selector
	done      map[string]tristate
	texts     map[string]string
	chosen    map[*choice]*symbol
}

// selector is an option that switches another one on, under a condition.
type selector struct {
	by   *symbol
	when *expr
}

func newSolver(symbols map[string]*symbol, set map[string]string) *solver {
	v := &solver{
		symbols: symbols, set: set, selectors: map[string][]selector{}, impliers: map[string][]selector{},
		done: map[string]tristate{}, texts: map[string]string{}, chosen: map[*choice]*symbol{},
	}
	for _, s := range symbols {
		for _, t := range s.selects {
			v.selectors[t.name] = append(v.selectors[t.name], selector{s, t.when})
		}
		for _, t := range s.implies {
			v.impliers[t.name] = append(v.impliers[t.name], selector{s, t.when})
		}
	}
	v.modules = v.tristate("MODULES") == yes
	clear(v.done)
	clear(v.texts)
	clear(v.chosen)
	return v
}

// tristate is the value of an option. One that depends on itself is off while it
// is being computed.
func (v *solver) tristate(name string) tristate {
	if value, ok := v.done[name]; ok {
		return value
	}
	v.done[name] = no
	value := no
	if s := v.symbols[name]; s != nil && s.kind != other {
		value = v.compute(s)
	}
	v.done[name] = value
	return value
}

func (v *solver) compute(s *symbol) tristate {
	seen := no
	for _, prompt := range s.prompts {
		seen = max(seen, prompt.eval(v))
	}
	if s.choice != nil && seen > no && s.kind == boolean {
		if v.choose(s.choice) == s {
			return yes
		}
		return no
	}
	value := v.own(s, seen)
	for _, by := range v.selectors[s.name] {
		value = max(value, min(v.tristate(by.by.name), by.when.eval(v)))
	}
	if value == module && (s.kind == boolean || !v.modules) {
		value = yes
	}
	return value
}

// own is the value that an option has if nobody selects it.
func (v *solver) own(s *symbol, seen tristate) tristate {
	if s.kind == boolean && seen == module {
		seen = yes
	}
	if set, ok := v.set[s.name]; ok && seen > no {
		return min(parseTristate(set), seen)
	}
	value := no
	for _, d := range s.defaults {
		if when := d.when.eval(v); when > no {
			value = min(d.is.eval(v), when)
			break
		}
	}
	implied := no
	for _, by := range v.impliers[s.name] {
		implied = max(implied, min(v.tristate(by.by.name), by.when.eval(v)))
	}
	if implied > no {
		value = min(max(value, implied), s.depends.eval(v))
	}
	return value
}

// choose is the member of a choice that is on, nil for none.
func (v *solver) choose(c *choice) *symbol {
	if s, ok := v.chosen[c]; ok {
		return s
	}
	v.chosen[c] = nil // to whoever asks meanwhile
	v.chosen[c] = v.chooseNow(c)
	return v.chosen[c]
}

func (v *solver) chooseNow(c *choice) *symbol {
	can := func(s *symbol) bool {
		for _, prompt := range s.prompts {
			if prompt.eval(v) > no {
				return true
			}
		}
		return false
	}
	for _, s := range c.members {
		if v.set[s.name] == "y" && can(s) {
			return s
		}
	}
	if c.optional {
		return nil
	}
	for _, d := range c.defaults {
		if s := v.symbols[d.is.name]; s != nil && d.when.eval(v) > no && can(s) {
			return s
		}
	}
	for _, s := range c.members {
		if can(s) {
			return s
		}
	}
	return nil
}

func (v *solver) lacking(e *expr) tristate { return yes - e.eval(v) }

// text is the value of an option as a comparison sees it. One that depends on
// itself has none while it is being computed.
func (v *solver) text(name string) string {
	s := v.symbols[name]
	if s == nil {
		return name // a bare word
	}
	if s.kind != other {
		return [...]string{no: "n", module: "m", yes: "y"}[v.tristate(name)]
	}
	text, ok := v.texts[name]
	if !ok {
		v.texts[name] = ""
		text = v.computeText(s)
		v.texts[name] = text
	}
	return text
}

func (v *solver) computeText(s *symbol) string {
	for _, prompt := range s.prompts {
		if set, ok := v.set[s.name]; ok && prompt.eval(v) > no {
			return set
		}
	}
	for _, d := range s.defaults {
		if d.when.eval(v) > no {
			return d.is.text(v)
		}
	}
	return ""
}

// without reports whether a usual configuration is one without an option that it
// does not have on: one for debugging, of the architecture, or that lost a choice.
func (v *solver) without(s *symbol) bool {
	return s.debug || s.arch || s.choice != nil && v.choose(s.choice) != nil
}

// possible tells which options may be on in some configuration of the same
// architecture: everything that has a way to be switched on, given that what the
// solver has on without a prompt stays on.
type possible struct {
	*solver
	may map[string]tristate
	// modest: nobody switches on what the usual configuration has off for sure.
	modest bool
}

func newPossible(v *solver, modest bool) *possible {
	p := &possible{solver: v, may: maps.Clone(v.done), modest: modest}
	p.may["COMPILE_TEST"] = impossible // it builds what nobody runs
	return p
}

func (p *possible) tristate(name string) tristate {
	if value, ok := p.may[name]; ok && value > no {
		return value
	} else if ok && value < no {
		return no // being computed, or found impossible
	}
	p.may[name] = impossible
	value := impossible
	if s := p.symbols[name]; s != nil && s.kind != other && !(p.modest && p.without(s)) && p.reachable(s) {
		value = yes
	}
	p.may[name] = value
	return max(value, no)
}

// impossible marks in possible.may what was looked at; 0 is only off so far.
const impossible tristate = -1

func (p *possible) reachable(s *symbol) bool {
	for _, prompt := range s.prompts {
		if prompt.eval(p) > no {
			return true
		}
	}
	for _, d := range s.defaults {
		if min(d.when.eval(p), d.is.eval(p)) > no {
			return true
		}
	}
	for _, by := range p.selectors[s.name] {
		if min(p.tristate(by.by.name), by.when.eval(p)) > no {
			return true
		}
	}
	return false
}

// lacking holds unless e is on and nobody can switch it off.
func (p *possible) lacking(e *expr) tristate {
	if e.op == option {
		if s := p.symbols[e.name]; s != nil && s.kind != other && len(s.prompts) > 0 {
			return yes
		}
	}
	return p.solver.lacking(e)
}
