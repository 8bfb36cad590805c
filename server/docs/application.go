package docs

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// frame is the part that all pages of the application share.
type frame struct {
	Root          string // the relative path from the page to /
	Place         string // the subject of the page: a model, an action; empty for other pages
	Project       string
	Release       int64
	BaseURL       string
	APIs          []release.API
	Callers       []string
	Models        []modelView
	TakesPassword bool // whether there is a sign-in with a password
	HasMails      bool // whether there is a page of mails
	HasEvents     bool // whether there is a page of events
	HasJobs       bool // whether there is a page of jobs
	HasRows       bool // whether there are pages of rows
}

// modelView is a model or union with its actions.
type modelView struct {
	Name, Doc, Table string // a union has no table
	IsUnion          bool
	Actions          []actionView
}

// Summary returns the first sentence of the comment of a model.
func (m modelView) Summary() string { return firstSentence(m.Doc) }

// actionView is an action as its page, or that of its model, shows it.
type actionView struct {
	*release.Action
	Path string   // of its first API, from the root; empty means that no API exposes it
	APIs []string // names
}

// Summary returns the first sentence of the comment of an action.
func (a actionView) Summary() string { return firstSentence(a.Doc) }

// Depends tells whether the rules decide on calls only by the record, the caller or the input.
func (a actionView) Depends() bool { return slices.Contains(a.Access, "depends") }

// HasSQL tells whether the action is a function of the database.
func (a actionView) HasSQL() bool { return !account.Is(a.Action) }

// firstSentence cuts a comment after its first sentence.
func firstSentence(doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if end := strings.Index(text, ". "); end >= 0 {
		return text[:end+1]
	}
	return text
}

// frame collects the data that every page shows. depth is the number of steps from / to the page.
func (s *Pages) frame(number int64, m *release.Manifest, place string, depth int) frame {
	f := frame{
		Root:          "./" + strings.Repeat("../", depth),
		Place:         place,
		Project:       s.Config.Name,
		Release:       number,
		BaseURL:       s.Config.BaseURL,
		TakesPassword: s.Config.PasswordEnabled,
		HasMails:      s.Config.Mode == config.Development,
		HasEvents:     s.Config.Mode == config.Development && m != nil && len(m.Subscribers) > 0,
		HasJobs:       s.Config.Mode == config.Development && m != nil && len(m.Jobs) > 0,
		HasRows:       s.hasRows(),
	}
	if m == nil {
		return f
	}
	f.APIs, f.Callers = m.APIs, m.Callers
	for _, model := range s.modelsOf(m) {
		v := modelView{Name: model.Name, Doc: model.Doc, Table: model.Table, IsUnion: model.IsUnion}
		for _, a := range m.Actions {
			if a.Model == model.Name {
				v.Actions = append(v.Actions, viewAction(m, a))
			}
		}
		f.Models = append(f.Models, v)
	}
	return f
}

// served returns the frame of a page, and the release.
func (s *Pages) served(place string, depth int) (frame, *release.Manifest, error) {
	number, m := s.Release()
	if m == nil {
		return frame{}, nil, &refusal.Unavailable
	}
	return s.frame(number, m, place, depth), m, nil
}

// model returns the view of a model, or nil.
func (f *frame) model(name string) *modelView {
	i := slices.IndexFunc(f.Models, func(m modelView) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Models[i]
}

// modelsOf lists the models of a release that have actions, and in development the others too, whose rows it shows. A
// release by an earlier Sternpost names models only in its actions.
func (s *Pages) modelsOf(m *release.Manifest) []release.Model {
	models := slices.Clone(m.Models)
	add := func(model release.Model) {
		if !slices.ContainsFunc(models, func(known release.Model) bool { return known.Name == model.Name }) {
			models = append(models, model)
		}
	}
	for _, a := range m.Actions {
		add(release.Model{Name: a.Model})
	}
	if s.hasRows() {
		for _, model := range s.Data.Models() {
			add(model)
		}
	}
	return models
}

func viewAction(m *release.Manifest, a *release.Action) actionView {
	v := actionView{Action: a}
	for _, api := range m.APIs {
		if !slices.Contains(api.Actions, a.Name) {
			continue
		}
		if v.Path == "" {
			v.Path = api.Path + "/json/" + a.Name
		}
		v.APIs = append(v.APIs, api.Name)
	}
	return v
}

// applicationPage shows the application: its models with their actions, and the tables
// without actions.
func (s *Pages) applicationPage(c *fiber.Ctx) error {
	f, m, err := s.served("", 0)
	if err != nil {
		return err
	}
	tables, err := s.databaseTables()
	if err != nil {
		return err
	}
	relations := f.diagram(tables)
	tables = slices.DeleteFunc(tables, func(t databaseTable) bool {
		return slices.ContainsFunc(f.Models, func(m modelView) bool { return m.Table == t.Name })
	})
	return sendPage(c, s.pages()["application"], struct {
		frame
		Others  []databaseTable
		Diagram template.HTML
		Counts  map[string]int
		Closed  []string // actions that nobody may call
		Open    []string // those that write, and that anonymous callers may call
		First   *actionView
	}{f, tables, relations, map[string]int{"models": len(f.Models), "actions": len(m.Actions), "APIs": len(m.APIs), "roles": max(len(m.Callers)-2, 0)},
		f.actionsThat(func(a actionView) bool {
			return !slices.ContainsFunc(a.Access, func(v string) bool { return v != "never" })
		}),
		f.actionsThat(func(a actionView) bool {
			return a.Kind.Writes() && len(a.Access) > 0 && a.Access[0] == "always" && a.HasSQL()
		}),
		f.first(),
	})
}

// diagram draws how the models hang together, by their foreign keys.
func (f *frame) diagram(tables []databaseTable) template.HTML {
	var names []string
	var links []link
	byTable := map[string]string{}
	for _, m := range f.Models {
		if !m.IsUnion {
			names = append(names, m.Name)
			byTable[m.Table] = m.Name
		}
	}
	for _, t := range tables {
		for _, k := range t.Constraints {
			if k.Kind == "f" && byTable[t.Name] != "" && byTable[k.Target] != "" {
				links = append(links, link{byTable[t.Name], byTable[k.Target], strings.Join(k.Columns, ", ")})
			}
		}
	}
	return diagram(names, links, func(model string) string { return f.Root + "docs/model/" + model })
}

// actionsThat lists the names of some actions.
func (f *frame) actionsThat(is func(actionView) bool) (names []string) {
	for _, m := range f.Models {
		for _, a := range m.Actions {
			if is(a) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// first returns an action to begin with: a create if there is one; nil without actions.
func (f *frame) first() (first *actionView) {
	for _, m := range f.Models {
		for i, a := range m.Actions {
			if a.Path != "" && (first == nil || first.Kind != release.Create && a.Kind == release.Create) {
				first = &m.Actions[i]
			}
		}
	}
	return first
}

// accessPage shows the permissions of callers.
func (s *Pages) accessPage(c *fiber.Ctx) error {
	f, _, err := s.served("", 1)
	if err != nil {
		return err
	}
	return sendPage(c, s.pages()["access"], f)
}

// modelPage shows a model or union.
func (s *Pages) modelPage(c *fiber.Ctx) error {
	name := c.Params("model")
	f, m, err := s.served(name, 2)
	if err != nil {
		return err
	}
	model := f.model(name)
	if model == nil {
		return &refusal.ActionNotFound
	}
	data := struct {
		frame
		Model  *modelView
		Table  *databaseTable // nil for a union
		Fields []memberRow    // of a union
		Keys   []string
		To     []relationView // where rows lead
		From   []relationView // what leads to rows
		Limits []limitView
		Rules  []ruleView
	}{frame: f, Model: model, Rules: rulesOf(model)}
	if model.IsUnion {
		r := schemaReader{m.Schemas}
		data.Fields = optional(r.rows(r.component(name), "", name))
	} else {
		tables, err := s.databaseTables()
		if err != nil {
			return err
		}
		data.Table = findTable(tables, model.Table)
		data.To, data.From = f.relations(tables, model.Table)
		if data.Table != nil {
			data.Keys, data.Limits = keysAndLimits(data.Table, m)
		}
	}
	return sendPage(c, s.pages()["model"], data)
}

// relationView is a foreign key.
type relationView struct{ Model, Column, OnDelete string }

// limitView is what values must satisfy.
type limitView struct{ Message, SQL string }

// ruleView is a rule with the actions that it admits to.
type ruleView struct {
	Text    string
	Actions []string
}

// relations lists the foreign keys of a table, and those to it.
func (f *frame) relations(tables []databaseTable, of string) (to, from []relationView) {
	for _, t := range tables {
		for _, k := range t.Constraints {
			if k.Kind != "f" {
				continue
			}
			column := strings.Join(k.Columns, ", ")
			if t.Name == of {
				to = append(to, relationView{f.modelOf(k.Target), column, k.OnDelete})
			}
			if k.Target == of {
				from = append(from, relationView{f.modelOf(t.Name), column, k.OnDelete})
			}
		}
	}
	return to, from
}

// modelOf returns the model of a table; the table's own name if it has none.
func (f *frame) modelOf(table string) string {
	for _, m := range f.Models {
		if m.Table == table && !m.IsUnion {
			return m.Name
		}
	}
	return table
}

// keysAndLimits lists what tells the rows of a table apart, and what its values must satisfy.
func keysAndLimits(t *databaseTable, m *release.Manifest) (keys []string, limits []limitView) {
	for _, k := range t.Constraints {
		switch k.Kind {
		case "p", "u":
			keys = append(keys, strings.Join(k.Columns, ", "))
		case "c":
			if m.Constraints[k.Name].Kind == release.Range {
				continue // what the type of the column can hold
			}
			text := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(k.Text, "CHECK ("), ")"), "::text", "")
			limits = append(limits, limitView{m.Constraints[k.Name].Message, text})
		}
	}
	return keys, limits
}

// rulesOf lists the rules of a model's actions, each once.
func rulesOf(m *modelView) (rules []ruleView) {
	for _, a := range m.Actions {
		for _, text := range a.Rules {
			i := slices.IndexFunc(rules, func(r ruleView) bool { return r.Text == text })
			if i < 0 {
				i = len(rules)
				rules = append(rules, ruleView{Text: text})
			}
			rules[i].Actions = append(rules[i].Actions, a.Name)
		}
	}
	return rules
}

// actionPage shows an action, with a form to try it.
func (s *Pages) actionPage(c *fiber.Ctx) error {
	name := c.Params("action")
	f, m, err := s.served(name, 2)
	if err != nil {
		return err
	}
	a := m.Action(name)
	if a == nil {
		return &refusal.ActionNotFound
	}
	r := schemaReader{m.Schemas}
	form, err := formReader{r, a}.form()
	if err != nil {
		return fmt.Errorf("write the form of %s: %w", name, err)
	}
	type access struct{ Caller, Verdict string }
	data := struct {
		frame
		Action                    actionView
		Access                    []access
		Inputs, Outputs           []memberRow
		Form, Least, Full, Result string
	}{
		frame: f, Action: viewAction(m, a), Form: form, Result: resultText(a),
		Inputs:  r.rows(r.component(a.Input), "", a.Input),
		Outputs: optional(r.rows(r.component(a.Result), "", a.Result)),
		Least:   r.sample(a.Input, false), Full: r.sample(a.Input, true),
	}
	for i, verdict := range a.Access {
		data.Access = append(data.Access, access{m.Callers[i], verdict})
	}
	return sendPage(c, s.pages()["action"], data)
}

// resultText describes the result of an action.
func resultText(a *release.Action) string {
	switch {
	case a.Kind == release.Delete && a.Row == "":
		return "the id"
	case a.Result == "":
		return "any JSON"
	case a.Kind == release.Get:
		return a.Result + " or null"
	}
	return a.Result
}

// rowsPage shows the rows of a model. The page has no rows: its script requests them.
func (s *Pages) rowsPage(c *fiber.Ctx) error {
	name := c.Params("model")
	f, m, err := s.served(name, 2)
	if err != nil {
		return err
	}
	model := f.model(name)
	if model == nil || model.IsUnion {
		return &refusal.ActionNotFound
	}
	forms := map[string]string{}
	for _, a := range model.Actions {
		if a.Kind == release.List {
			if forms[a.Name], err = (formReader{schemaReader{m.Schemas}, a.Action}).form(); err != nil {
				return fmt.Errorf("write the form of %s: %w", a.Name, err)
			}
		}
	}
	return sendPage(c, s.pages()["rows"], struct {
		frame
		Model *modelView
		Forms map[string]string
	}{f, model, forms})
}

// found is a page in the index of the palette.
type found struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Path  string `json:"path"` // from /
	About string `json:"about,omitempty"`
	Text  string `json:"text,omitempty"` // searched besides the name
}

// index answers with everything that the palette finds.
func (s *Pages) index(c *fiber.Ctx) error {
	f, m, err := s.served("", 1)
	if err != nil {
		return err
	}
	list := []found{{Kind: "page", Name: "Overview", Path: ""}, {Kind: "page", Name: "Permissions", Path: "docs/access"}}
	if f.HasMails {
		list = append(list, found{Kind: "page", Name: "Mails", Path: "mail"})
	}
	if f.HasEvents {
		list = append(list, found{Kind: "page", Name: "Events", Path: "events"})
	}
	if f.HasJobs {
		list = append(list, found{Kind: "page", Name: "Jobs", Path: "jobs"})
	}
	for _, api := range f.APIs {
		list = append(list, found{Kind: "reference", Name: api.Name, Path: "docs?api=" + api.Path, About: "the reference of the API"})
	}
	r := schemaReader{m.Schemas}
	for _, model := range f.Models {
		kind := "model"
		if model.IsUnion {
			kind = "union"
		}
		list = append(list, found{Kind: kind, Name: model.Name, Path: "docs/model/" + model.Name, About: model.Summary(), Text: model.Doc})
		if f.HasRows && !model.IsUnion {
			list = append(list, found{Kind: "rows", Name: model.Name, Path: "docs/rows/" + model.Name, About: "rows of " + model.Name})
		}
		for _, a := range model.Actions {
			text := strings.Join(append([]string{a.Doc}, a.Rules...), "\n")
			for _, row := range r.rows(r.component(a.Input), "", a.Input) {
				text += "\n" + row.Path + " " + row.Type + " " + row.Doc
			}
			list = append(list, found{Kind: string(a.Kind), Name: a.Name, Path: "docs/action/" + a.Name, About: a.Summary(), Text: text})
		}
	}
	text, err := answer.Encode(list)
	if err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	c.Set("Content-Type", request.JSONType)
	c.Response().SetBodyRaw(text)
	return nil
}

// samples answers with a valid input for each action.
func (s *Pages) samples(c *fiber.Ctx) error {
	_, m := s.Release()
	if m == nil {
		return &refusal.Unavailable
	}
	r := schemaReader{m.Schemas}
	all := map[string]rawJSON{}
	for _, a := range m.Actions {
		if a.Kind == release.List {
			all[a.Name] = rawJSON(r.listSample(a.Input))
			continue
		}
		all[a.Name] = rawJSON(r.sample(a.Input, true))
	}
	text, err := answer.Encode(all)
	if err != nil {
		return fmt.Errorf("write the samples: %w", err)
	}
	c.Set("Content-Type", request.JSONType)
	c.Response().SetBodyRaw(text)
	return nil
}

// rawJSON is JSON text, unchanged.
type rawJSON string

// MarshalJSON returns it.
func (j rawJSON) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// optional returns rows without the required mark, which is only useful for inputs.
func optional(rows []memberRow) []memberRow {
	for i := range rows {
		rows[i].Required = false
	}
	return rows
}
