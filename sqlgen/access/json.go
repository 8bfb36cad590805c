package access

import (
	"encoding/json"
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The JSON form of a matrix, for scripts. Members may be added, but not removed.
type (
	jsonMatrix struct {
		Callers  []string      `json:"callers"` // anonymous, authenticated, then roles
		Actions  []jsonAction  `json:"actions"`
		Code     []jsonAction  `json:"code"` // what the code of jobs and subscribers may do
		Warnings []jsonWarning `json:"warnings"`
		Allowed  []jsonWarning `json:"allowed"` // those that an @allow says to be meant
	}
	jsonAction struct {
		Action  string                  `json:"action"`
		Kind    model.Kind              `json:"kind"`
		Model   string                  `json:"model"`
		APIs    []string                `json:"apis"`
		Rules   []jsonRule              `json:"rules"` // those that count
		Callers map[string]jsonDecision `json:"callers"`
	}
	jsonRule struct {
		Rule   string `json:"rule"`
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	jsonDecision struct {
		Decision Verdict   `json:"decision"`
		Rules    []int     `json:"rules"` // on which it depends: indexes of the action's rules
		On       []Subject `json:"on"`
	}
	jsonWarning struct {
		Code    syntax.Code `json:"code"`
		Action  string      `json:"action"`
		Message string      `json:"message"`
		Callers []string    `json:"callers"` // of one that access is widened: for whom
		File    string      `json:"file"`
		Line    int         `json:"line"`
		Column  int         `json:"column"`
	}
)

// JSON returns a matrix and its warnings for scripts.
func JSON(m *Matrix, warnings []Warning) []byte {
	j := jsonMatrix{Callers: []string{}, Actions: []jsonAction{}, Code: []jsonAction{}, Warnings: []jsonWarning{}, Allowed: []jsonWarning{}}
	for _, c := range m.Classes {
		j.Callers = append(j.Callers, c.Name)
	}
	for _, row := range m.Rows {
		j.Actions = append(j.Actions, m.action(row))
	}
	for _, row := range m.Code {
		j.Code = append(j.Code, m.action(row))
	}
	for _, w := range warnings {
		list := &j.Warnings
		if w.Allowed {
			list = &j.Allowed
		}
		*list = append(*list, jsonWarning{
			Code: w.Code, Action: w.Action.Name, Message: w.Message, Callers: append([]string{}, w.Gains...),
			File: w.Span.File.Name, Line: w.Span.Start.Line, Column: w.Span.Start.Column,
		})
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("access: write the matrix: %v", err))
	}
	return append(text, '\n')
}

func (m *Matrix) action(row Row) jsonAction {
	a := row.Action
	j := jsonAction{Action: a.Name, Kind: a.Kind, Model: owner(a), APIs: []string{}, Rules: []jsonRule{}, Callers: map[string]jsonDecision{}}
	for _, api := range row.APIs {
		j.APIs = append(j.APIs, api.Name)
	}
	ordinals := map[*model.Rule]int{}
	for i, r := range a.Rules {
		ordinals[r] = i
		j.Rules = append(j.Rules, jsonRule{Rule: r.Text, File: r.Span.File.Name, Line: r.Span.Start.Line, Column: r.Span.Start.Column})
	}
	for i, d := range row.Decisions {
		decision := jsonDecision{Decision: d.Verdict, Rules: []int{}, On: append([]Subject{}, d.On...)}
		for _, r := range d.Rules {
			decision.Rules = append(decision.Rules, ordinals[r])
		}
		j.Callers[m.Classes[i].Name] = decision
	}
	return j
}
