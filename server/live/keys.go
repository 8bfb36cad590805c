package live

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
)

// change is what was written to a row. Of a sign-in that may have ended, it has no model.
type change struct {
	Model string
	Whole bool // the table was emptied
	Old   map[string]json.RawMessage
	New   map[string]json.RawMessage
}

var seed = maphash.MakeSeed()

// hash is a key of rows.
func hash(model, column, text string) uint64 {
	var m maphash.Hash
	m.SetSeed(seed)
	for _, part := range [...]string{model, column, text} {
		_, _ = m.WriteString(part)
		_ = m.WriteByte(0)
	}
	return m.Sum64()
}

// textOf is the text of a value of JSON; there is none of null, of an array and of an object.
func textOf(value json.RawMessage) (text string, ok bool) {
	switch {
	case len(value) == 0 || value[0] == 'n' || value[0] == '[' || value[0] == '{':
		return "", false
	case value[0] == '"':
		return text, json.Unmarshal(value, &text) == nil
	}
	return string(value), true
}

// register has a unit marked by changes. Without values, keys that are values are left out: they are registered later.
func (h *Hub) register(j job, watches []release.Watch, values json.RawMessage) {
	u := j.base()
	var list []json.RawMessage
	_ = json.Unmarshal(values, &list)
	for _, w := range watches {
		keys, isAny := keysOf(w, u.query.Input, u.identity, list)
		if isAny {
			u.models = append(u.models, w.Model)
			h.byModel[w.Model] = append(h.byModel[w.Model], j)
			continue
		}
		for _, k := range keys {
			u.keys = append(u.keys, k)
			h.byKey[k] = append(h.byKey[k], j)
		}
	}
}

func (h *Hub) unregister(j job) {
	u := j.base()
	for _, k := range u.keys {
		if h.byKey[k] = without(h.byKey[k], j); len(h.byKey[k]) == 0 {
			delete(h.byKey, k)
		}
	}
	for _, m := range u.models {
		if h.byModel[m] = without(h.byModel[m], j); len(h.byModel[m]) == 0 {
			delete(h.byModel, m)
		}
	}
	u.keys, u.models = nil, nil
}

// keysOf returns the keys of the first set that can be used; any change counts if there is none.
func keysOf(w release.Watch, input []byte, identity string, values []json.RawMessage) (keys []uint64, isAny bool) {
sets:
	for _, set := range w.Keys {
		keys = keys[:0]
		for _, k := range set {
			isOff, isKnown := false, true
			for _, v := range k.When {
				isKnown = isKnown && v <= len(values)
				isOff = isOff || isKnown && string(values[v-1]) != "true"
			}
			var texts []json.RawMessage
			switch {
			case !isKnown:
				continue sets
			case isOff:
				continue
			case k.Column == "":
				continue sets
			case k.Input != "":
				text, ok := textOf(at(input, strings.Split(k.Input, ".")))
				if !ok {
					continue sets
				}
				keys = append(keys, hash(w.Model, k.Column, text))
			case k.Value > len(values) && values == nil: // registered again when they are known
			case k.Value > 0:
				if k.Value > len(values) || json.Unmarshal(values[k.Value-1], &texts) != nil {
					continue sets // a digest
				}
				for _, text := range texts {
					if text, ok := textOf(text); ok {
						keys = append(keys, hash(w.Model, k.Column, text))
					}
				}
			case identity != "":
				keys = append(keys, hash(w.Model, k.Column, identity))
			}
		}
		return keys, false
	}
	return nil, true
}

// at returns the value at a path in an input, nil if there is none.
func at(input []byte, path []string) json.RawMessage {
	value := json.RawMessage(input)
	for _, name := range path {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return nil
		}
		value = object[name]
	}
	return bytes.TrimSpace(value)
}

// concerned calls do with each unit that a change concerns, perhaps more than once.
func (h *Hub) concerned(c change, do func(job)) {
	for _, j := range h.byModel[c.Model] {
		do(j)
	}
	for column := range h.columns[c.Model] {
		before := ""
		for _, row := range [...]map[string]json.RawMessage{c.Old, c.New} {
			text, ok := textOf(row[column])
			if !ok || text == before && before != "" {
				continue
			}
			before = text
			for _, j := range h.byKey[hash(c.Model, column, text)] {
				do(j)
			}
		}
	}
	if c.Whole {
		for _, each := range h.classes {
			if each.query.Action.Live.Reads(c.Model) {
				do(each)
			}
		}
		for _, each := range h.viewers {
			if each.query.Action.Live.Reads(c.Model) {
				do(each)
			}
		}
	}
}

// hit marks what a change concerns. A subscription of a class of several callers waits until the caller's values are known
// again: until then, the class may show what this caller may not see.
func (h *Hub) hit(c change) {
	h.concerned(c, func(j job) {
		h.mark(j)
		if v, ok := j.(*viewer); ok {
			for _, s := range v.subs {
				if s.class == nil || !s.class.isOwn {
					s.waits, s.next = true, nil
				}
			}
		}
	})
}
