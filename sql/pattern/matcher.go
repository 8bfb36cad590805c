package pattern

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The bounds of an automaton. Postgres makes states as it needs them, and keeps about two for each instruction: a pattern
// that goes through many more has them made again for each character.
const (
	maxInstructions      = 800
	statesPerInstruction = 2
	fewStates            = 64
)

var errTooLarge = errors.New("it has too many states: make its counts smaller, or its alternatives fewer")

// Matcher tells whether texts match a pattern. It is an automaton that takes one step for each character.
type Matcher struct {
	bounds  []rune // of classes of characters: class i has those from bounds[i] on
	ascii   [utf8.RuneSelf]uint16
	next    []uint16 // by state and class; state 0 matches nothing any more
	accepts []bool   // by state
}

// Compile makes the matcher of a pattern in the form of Read.
func Compile(written string) (*Matcher, error) {
	parsed, err := syntax.Parse(written, syntax.ClassNL|syntax.OneLine|syntax.PerlX)
	if err != nil {
		return nil, fmt.Errorf("the pattern cannot be read: %w", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("the pattern cannot be compiled: %w", err)
	}
	if len(program.Inst) > maxInstructions {
		return nil, errTooLarge
	}
	b := builder{program: program, Matcher: &Matcher{bounds: boundsOf(program)}, states: map[string]uint16{}}
	for c := range rune(utf8.RuneSelf) {
		b.ascii[c] = b.search(c)
	}
	return b.Matcher, b.build()
}

// Match tells whether a text, of valid UTF-8, matches.
func (m *Matcher) Match(text []byte) bool {
	state, classes := 1, len(m.bounds)
	for i := 0; i < len(text) && state != 0; {
		var class uint16
		if c := text[i]; c < utf8.RuneSelf {
			class = m.ascii[c]
			i++
		} else {
			r, size := utf8.DecodeRune(text[i:])
			class = m.search(r)
			i += size
		}
		state = int(m.next[state*classes+int(class)])
	}
	return m.accepts[state]
}

// search returns the class of a character.
func (m *Matcher) search(c rune) uint16 {
	at, found := slices.BinarySearch(m.bounds, c)
	if !found {
		at--
	}
	return uint16(at)
}

// boundsOf returns where classes begin such that a program treats all characters of a class alike.
func boundsOf(program *syntax.Prog) []rune {
	bounds := []rune{0}
	for _, in := range program.Inst {
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(in.Rune) == 1 { // perhaps in either case
				other := unicode.SimpleFold(in.Rune[0])
				bounds = append(bounds, in.Rune[0], in.Rune[0]+1, other, other+1)
			}
			for i := 0; i+1 < len(in.Rune); i += 2 {
				bounds = append(bounds, in.Rune[i], in.Rune[i+1]+1)
			}
		case syntax.InstRuneAnyNotNL:
			bounds = append(bounds, '\n', '\n'+1)
		}
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	if bounds[len(bounds)-1] > unicode.MaxRune {
		bounds = bounds[:len(bounds)-1]
	}
	return bounds
}

// builder makes the states of a matcher: each is a set of instructions at which the program may be.
type builder struct {
	*Matcher
	program *syntax.Prog
	states  map[string]uint16
	sets    [][]uint32
}

func (b *builder) build() error {
	b.state(nil)
	b.state(b.closure([]uint32{uint32(b.program.Start)}, syntax.EmptyBeginText|syntax.EmptyBeginLine))
	for at := 0; at < len(b.sets); at++ {
		if at > fewStates+statesPerInstruction*len(b.program.Inst) {
			return errTooLarge
		}
		for _, first := range b.bounds {
			var out []uint32
			for _, pc := range b.sets[at] {
				if in := &b.program.Inst[pc]; takes(in, first) {
					out = append(out, in.Out)
				}
			}
			b.next = append(b.next, b.state(b.closure(out, 0)))
		}
	}
	for _, set := range b.sets {
		atEnd := b.closure(set, syntax.EmptyEndText|syntax.EmptyEndLine)
		b.accepts = append(b.accepts, slices.ContainsFunc(atEnd, func(pc uint32) bool { return b.program.Inst[pc].Op == syntax.InstMatch }))
	}
	return nil
}

// takes tells whether an instruction takes a character.
func takes(in *syntax.Inst, c rune) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return in.MatchRune(c)
	}
	return false
}

// state returns the number of a set of instructions.
func (b *builder) state(set []uint32) uint16 {
	key := fmt.Sprint(set)
	n, ok := b.states[key]
	if !ok {
		n = uint16(len(b.sets))
		b.states[key] = n
		b.sets = append(b.sets, set)
	}
	return n
}

// closure returns the instructions that take a character, match, or wait for the end, which are reached from some
// without a character, sorted.
func (b *builder) closure(from []uint32, holds syntax.EmptyOp) []uint32 {
	var set []uint32
	seen := map[uint32]bool{}
	stack := slices.Clone(from)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch in := &b.program.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				stack = append(stack, in.Out)
			} else {
				set = append(set, pc)
			}
		case syntax.InstFail:
		default:
			set = append(set, pc)
		}
	}
	slices.Sort(set)
	return set
}

// Example returns a shortest text that matches; "" if none does.
func (m *Matcher) Example() string {
	classes := len(m.bounds)
	texts := make([]*string, len(m.accepts))
	first := ""
	texts[1] = &first
	for queue := []int{1}; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		if m.accepts[state] {
			return *texts[state]
		}
		for class := range classes {
			to := m.next[state*classes+class]
			if texts[to] == nil {
				text := *texts[state] + string(m.example(uint16(class)))
				texts[to] = &text
				queue = append(queue, int(to))
			}
		}
	}
	return ""
}

// example returns a character of a class: one that people read, if it has one.
func (m *Matcher) example(class uint16) rune {
	for c := rune('0'); c <= 'z'; c++ {
		if m.ascii[c] == class {
			return c
		}
	}
	return max(m.bounds[class], 1)
}

// States returns how many states the matcher has.
func (m *Matcher) States() int { return len(m.accepts) }
