package docs

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// applicationView is what the page of the application shows.
type applicationView struct {
	Release       int64
	BaseURL       string
	APIs          []release.API
	Callers       []string
	Models        []modelView
	Others        []databaseTable // tables without a model that has actions
	TakesPassword bool            // whether there is a sign-in with a password
	HasMails      bool            // whether there is a page of mails
}

// modelView is a model or union with its actions.
type modelView struct {
	Name, Doc string
	IsUnion   bool
	Table     *databaseTable // nil for a union
	Fields    []memberRow    // of a union
	Actions   []actionView
}

// actionView is an action with what it takes to try it.
type actionView struct {
	*release.Action
	Path        string   // of its first API, from the root; empty means that none exposes it
	APIs        []string // names
	Inputs      []memberRow
	Outputs     []memberRow
	LeastSample string
	FullSample  string
	ResultName  string
}

// applicationPage shows the application.
func (s *Pages) applicationPage(c *fiber.Ctx) error {
	number, m := s.Release()
	if m == nil {
		return &refusal.Unavailable
	}
	tables, err := s.databaseTables()
	if err != nil {
		return err
	}
	return sendPage(c, s.application, s.view(number, m, tables))
}

// view gathers what the page shows.
func (s *Pages) view(number int64, m *release.Manifest, tables []databaseTable) applicationView {
	v := applicationView{
		Release:       number,
		BaseURL:       s.Config.BaseURL,
		APIs:          m.APIs,
		Callers:       m.Callers,
		TakesPassword: s.Config.PasswordEnabled,
		HasMails:      s.Config.Mode == config.Development,
	}
	shown := map[string]bool{}
	for _, model := range modelsOf(m) {
		mv := modelView{Name: model.Name, Doc: model.Doc, IsUnion: model.IsUnion}
		if model.IsUnion {
			r := schemaReader{m.Schemas}
			mv.Fields = optional(r.rows(r.component(model.Name), "", model.Name))
		} else {
			mv.Table = findTable(tables, model.Table)
			shown[model.Table] = true
		}
		for _, a := range m.Actions {
			if a.Model == model.Name {
				mv.Actions = append(mv.Actions, viewAction(m, a))
			}
		}
		v.Models = append(v.Models, mv)
	}
	for _, t := range tables {
		if !shown[t.Name] {
			v.Others = append(v.Others, t)
		}
	}
	return v
}

// modelsOf lists the models of a release. One that an earlier Sternpost compiled names
// them with its actions only.
func modelsOf(m *release.Manifest) []release.Model {
	models := slices.Clone(m.Models)
	for _, a := range m.Actions {
		if !slices.ContainsFunc(models, func(known release.Model) bool { return known.Name == a.Model }) {
			models = append(models, release.Model{Name: a.Model})
		}
	}
	return models
}

func viewAction(m *release.Manifest, a *release.Action) actionView {
	r := schemaReader{m.Schemas}
	v := actionView{
		Action:      a,
		Inputs:      r.rows(r.component(a.Input), "", a.Input),
		Outputs:     optional(r.rows(r.component(a.Result), "", a.Result)),
		LeastSample: r.sample(a.Input, false),
		FullSample:  r.sample(a.Input, true),
		ResultName:  a.Result,
	}
	switch {
	case a.Kind == release.Delete:
		v.ResultName = "the id"
	case a.Result == "":
		v.ResultName = "any JSON"
	case a.Kind == release.Get:
		v.ResultName += " or null"
	}
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

// optional returns rows without saying what is required, which is news of inputs only.
func optional(rows []memberRow) []memberRow {
	for i := range rows {
		rows[i].Required = false
	}
	return rows
}
