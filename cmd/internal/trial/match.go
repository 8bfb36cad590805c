package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/cmd/internal/seed"
)

// try makes a call of a file, and tells how the answer differs from what must come; empty if it does not.
func try(ctx context.Context, f seed.File, i int, to seed.Target, caller string, answers map[string]any) (failure string, err error) {
	c := f.Calls[i]
	if c.Input != nil {
		input, err := decode(c.Input)
		if err != nil {
			return "", err
		}
		if c.Input, err = json.Marshal(filled(input, answers)); err != nil {
			return "", err
		}
	}
	status, text, err := c.Send(ctx, to, caller)
	if err != nil {
		return "", fmt.Errorf("%s:%d: %s: %w", f.Name, f.Line(i), c.Action, err)
	}
	isWanted := status == c.Status
	if c.Status == 0 {
		isWanted = status == http.StatusOK || status == http.StatusAccepted
	}
	if !isWanted {
		return difference{path: []any{"status"}, want: strconv.Itoa(max(c.Status, http.StatusOK)), got: statusText(status, text)}.at(f, i), nil
	}
	got, err := decode(text)
	if err != nil {
		return fmt.Sprintf("%s:%d: the answer is not JSON: %s\n", f.Name, f.Line(i), text), nil
	}
	if c.Name != "" {
		answers[c.Name] = got
	}
	if c.Answer == nil {
		return "", nil
	}
	want, err := decode(c.Answer)
	if err != nil {
		return "", err
	}
	for _, d := range differences([]any{"answer"}, filled(want, answers), got) {
		failure += d.at(f, i)
	}
	return failure, nil
}

// statusText is a status, with the reason of a refusal.
func statusText(status int, text []byte) string {
	if status < http.StatusBadRequest {
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status) + " " + seed.Refusal(status, text).Error()
}

// decode reads JSON, whose numbers keep their digits.
func decode(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// reference is a text for a member of an earlier answer: $invoice.lines.0.id.
var reference = regexp.MustCompile(`^\$([A-Za-z]\w*)((?:\.\w+)+)$`)

// filled replaces references by the values that they name. Another text that begins with $ is itself.
func filled(value any, answers map[string]any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = filled(member, answers)
		}
	case []any:
		for i, element := range v {
			v[i] = filled(element, answers)
		}
	case string:
		named := reference.FindStringSubmatch(v)
		if named == nil {
			return v
		}
		found, isThere := answers[named[1]]
		for _, step := range strings.Split(named[2], ".")[1:] {
			switch of := found.(type) {
			case map[string]any:
				found, isThere = of[step], isThere && has(of, step)
			case []any:
				place, err := strconv.Atoi(step)
				if isThere = err == nil && place < len(of); isThere {
					found = of[place]
				}
			default:
				isThere = false
			}
		}
		if isThere {
			return found
		}
	}
	return value
}

func has(of map[string]any, name string) bool {
	_, is := of[name]
	return is
}

// difference is a value that is not the wanted one.
type difference struct {
	path      []any // of the call: answer, results, 0, number
	want, got string
}

// at writes a difference of a call with its place in the file.
func (d difference) at(f seed.File, i int) string {
	name := ""
	for _, step := range d.path {
		switch step := step.(type) {
		case string:
			name += "." + step
		case int:
			name += fmt.Sprintf("[%d]", step)
		}
	}
	return fmt.Sprintf("%s:%d: %s of %s\n  - %s\n  + %s\n", f.Name, f.Line(i, d.path...), name[1:], f.Calls[i].Action, d.want, d.got)
}

// differences compares the wanted part of a value with the value. A list must have the wanted elements in their order,
// and no others; an object may have other members.
func differences(path []any, want, got any) (found []difference) {
	here := difference{path, show(want), show(got)}
	switch w := want.(type) {
	case map[string]any:
		g, is := got.(map[string]any)
		if !is {
			return []difference{here}
		}
		for _, name := range sorted(w) {
			at := append(slices.Clone(path), name)
			if member, is := g[name]; is {
				found = append(found, differences(at, w[name], member)...)
			} else {
				found = append(found, difference{at, show(w[name]), "nothing; there is " + strings.Join(sorted(g), ", ")})
			}
		}
		return found
	case []any:
		g, is := got.([]any)
		if !is || len(g) != len(w) {
			return []difference{{path, show(want), show(like(w, got))}}
		}
		for i := range w {
			found = append(found, differences(append(slices.Clone(path), i), w[i], g[i])...)
		}
		return found
	case json.Number:
		g, is := got.(json.Number)
		a, isNumber := new(big.Rat).SetString(w.String())
		if b, isOther := new(big.Rat).SetString(g.String()); is && isNumber && isOther && a.Cmp(b) == 0 {
			return nil
		}
	default:
		if want == got {
			return nil
		}
	}
	return []difference{here}
}

// like is a value without the members that no wanted element of its list has.
func like(want []any, got any) any {
	g, isList := got.([]any)
	if !isList || len(want) == 0 {
		return got
	}
	part := []any{}
	for _, element := range g {
		if of, is := element.(map[string]any); is {
			named := map[string]any{}
			for _, w := range want {
				w, _ := w.(map[string]any)
				for name := range w {
					if has(of, name) {
						named[name] = of[name]
					}
				}
			}
			element = named
		}
		part = append(part, element)
	}
	return part
}

func sorted(of map[string]any) []string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// mostShown is the longest text of a value in a difference.
const mostShown = 600

// show writes a value in a line.
func show(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // it was read as JSON
	}
	line := []rune(strings.TrimSpace(text.String()))
	if len(line) > mostShown {
		return string(line[:mostShown]) + "…"
	}
	return string(line)
}
