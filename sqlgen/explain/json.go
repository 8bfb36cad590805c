package explain

import (
	"encoding/json"
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The JSON form of an explanation, for scripts. Members may be added, but not removed.
type (
	jsonExplanation struct {
		Action      string           `json:"action"`
		Kind        model.Kind       `json:"kind"`
		Model       string           `json:"model"`
		Caller      *jsonCaller      `json:"caller"` // null is anonymous
		Status      *int             `json:"status"` // null if the new row decides
		Outcome     string           `json:"outcome"`
		Early       string           `json:"early"` // true, false or unknown
		Rules       []jsonRule       `json:"rules"` // before any row is read
		Validations []jsonValidation `json:"validations"`
		Rows        []jsonRow        `json:"rows"`
		Notes       []string         `json:"notes"`
	}
	jsonCaller struct {
		ID    string   `json:"id"`
		Email string   `json:"email"`
		Roles []string `json:"roles"`
	}
	jsonPlace struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	jsonRule struct {
		Rule string `json:"rule"`
		jsonPlace
		Value   string       `json:"value"`
		Clauses []jsonClause `json:"clauses"`
		Needs   string       `json:"needs"`
	}
	jsonClause struct {
		Clause string `json:"clause"`
		jsonPlace
		Depth    int           `json:"depth"`
		Value    string        `json:"value"`
		Operands []jsonOperand `json:"operands"`
	}
	jsonOperand struct {
		Operand string `json:"operand"`
		Value   string `json:"value"`
	}
	jsonValidation struct {
		Validation string `json:"validation"`
		jsonPlace
		Value string `json:"value"`
	}
	jsonRow struct {
		ID       string       `json:"id"`
		Arm      string       `json:"arm,omitempty"`
		Selected bool         `json:"selected"`
		Admitted bool         `json:"admitted"`
		Wheres   []jsonClause `json:"wheres"`
		Rules    []jsonRule   `json:"rules"`
	}
)

// JSON returns an explanation for scripts.
func JSON(e *Explanation) []byte {
	j := jsonExplanation{
		Action: e.Action.Name, Kind: e.Action.Kind, Model: owner(e), Outcome: e.Outcome, Early: e.Early.String(),
		Rules: jsonRules(e.Rules), Validations: []jsonValidation{}, Rows: []jsonRow{}, Notes: append([]string{}, e.Notes...),
	}
	if e.Caller.ID != "" {
		j.Caller = &jsonCaller{e.Caller.ID, e.Caller.Email, append([]string{}, e.Caller.Roles...)}
	}
	if e.Status != 0 {
		j.Status = &e.Status
	}
	for _, v := range e.Validations {
		j.Validations = append(j.Validations, jsonValidation{v.Validation.Text, jsonPlaceOf(v.Validation.Span), v.Value.String()})
	}
	for _, r := range e.Rows {
		j.Rows = append(j.Rows, jsonRow{r.ID, r.Arm, r.Selected, r.Admitted, jsonClauses(r.Wheres), jsonRules(r.Rules)})
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("explain: write an explanation: %v", err))
	}
	return append(text, '\n')
}

func jsonPlaceOf(s syntax.Span) jsonPlace {
	return jsonPlace{s.File.Name, s.Start.Line, s.Start.Column}
}

func jsonRules(rules []Rule) []jsonRule {
	list := []jsonRule{}
	for _, r := range rules {
		list = append(list, jsonRule{r.Rule.Text, jsonPlaceOf(r.Rule.Span), r.Value.String(), jsonClauses(r.Clauses), r.Needs})
	}
	return list
}

func jsonClauses(clauses []Clause) []jsonClause {
	list := []jsonClause{}
	for _, c := range clauses {
		j := jsonClause{c.Text, jsonPlaceOf(c.Span), c.Depth, c.Value.String(), []jsonOperand{}}
		for _, o := range c.Operands {
			j.Operands = append(j.Operands, jsonOperand{o.Text, o.show()})
		}
		list = append(list, j)
	}
	return list
}
