package explain

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
)

// Live says in words when the answer of a live action is looked at again, and who shares it.
func Live(a *release.Action) string {
	if a.Live == nil {
		return fmt.Sprintf("%s is not live: clients cannot follow its answer. Write @live on it.\n", a.Name)
	}
	l := a.Live
	var b strings.Builder
	fmt.Fprintf(&b, "%s is called again when\n", a.Name)
	for _, w := range l.Rows {
		fmt.Fprintf(&b, "  %s\n", watched(l, w))
	}
	if l.Clock {
		b.WriteString("  a minute has passed: the answer depends on the clock\n")
	}
	switch l.Shared {
	case release.ByAll:
		b.WriteString("All callers who send the same input share one call.\n")
	case release.ByNobody:
		b.WriteString("Each caller has a call of their own.\n")
	default:
		b.WriteString("Callers who send the same input share one call if they have the same\n")
		for _, v := range l.Values {
			fmt.Fprintf(&b, "  %s\n", v)
		}
	}
	if len(l.Caller) > 0 {
		b.WriteString("What the rules ask of a caller is looked at again when\n")
		for _, w := range l.Caller {
			fmt.Fprintf(&b, "  %s\n", watched(l, w))
		}
	}
	return b.String()
}

// watched says which changes of a model count.
func watched(l *release.Live, w release.Watch) string {
	if len(w.Keys) == 0 {
		return "any " + w.Model + " changes"
	}
	var sets []string
	isSure := false // some set can always be used
	for _, set := range w.Keys {
		var keys []string
		mayLack := false
		for _, k := range set {
			var text string
			switch {
			case k.Column == "":
				text = "any"
			case k.Input != "":
				text = k.Column + " = the input " + k.Input
				mayLack = strings.HasPrefix(k.Input, "where.") && strings.HasSuffix(k.Input, ".equals")
			case k.Value > 0:
				text = k.Column + " is among: " + l.Values[k.Value-1]
			default:
				text = k.Column + " = the caller"
			}
			var conditions []string
			for _, v := range k.When {
				conditions = append(conditions, l.Values[v-1])
			}
			if conditions != nil {
				text += " (if the caller: " + strings.Join(conditions, ", ") + ")"
			}
			keys = append(keys, text)
		}
		text := strings.Join(keys, ", or ")
		if mayLack {
			text += " (if it is sent)"
		} else {
			isSure = true
		}
		sets = append(sets, text)
		if isSure {
			break
		}
	}
	if !isSure {
		sets = append(sets, "any")
	}
	return "a row of " + w.Model + " changes: " + strings.Join(sets, "; else ")
}
