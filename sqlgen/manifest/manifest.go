package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Complete adds to what lower says of a release's functions what clients are told of
// its actions: their requests and answers as JSON Schema, their rules, and who is known
// to pass them or not.
func Complete(m *release.Manifest, s *model.Schema) {
	m.Format = release.Format
	for _, a := range s.APIs {
		api := release.API{Name: a.Name, Path: a.Path, Doc: a.Doc, Actions: []string{}, Identity: a.ExposesIdentity, IdentityActions: a.IdentityActions}
		for _, action := range a.Actions {
			api.Actions = append(api.Actions, action.Name)
		}
		m.APIs = append(m.APIs, api)
	}
	m.Models = modelsWithActions(s)
	classes := access.Classes(s)
	for _, c := range classes {
		m.Callers = append(m.Callers, c.Name)
		if c.Role != nil && len(c.Role.Expressions) > 0 {
			m.ByExpression = append(m.ByExpression, c.Name)
		}
	}
	p := newPublisher(s)
	for i, a := range s.Actions {
		p.action(m.Actions[i], a)
		for _, c := range classes {
			m.Actions[i].Access = append(m.Actions[i].Access, string(access.Decide(a.Rules, c).Verdict))
		}
	}
	for i, j := range s.Jobs {
		m.Jobs[i].Input = p.input(j.Start)
	}
	for _, e := range s.Enums {
		p.enum(e)
	}
	for _, u := range s.Unions {
		for _, f := range u.Fields {
			if enum := p.sourceEnum(f); enum != nil && len(u.Actions) > 0 {
				p.enum(enum)
			}
		}
	}
	m.Schemas = p.schemas()
	m.Environment = s.Config.Environment
	m.Secrets = s.Config.Secrets
	for _, c := range s.Config.Claims {
		m.Claims = append(m.Claims, release.Claim{Key: c.Key, Column: model.SnakeForm(c.Field)})
	}
}

// modelsWithActions describes the models and unions that have actions.
func modelsWithActions(s *model.Schema) []release.Model {
	models := []release.Model{}
	for _, m := range s.Models {
		if len(m.Actions) > 0 {
			models = append(models, release.Model{Name: m.Name, Doc: m.Doc, Table: m.Table})
		}
	}
	for _, u := range s.Unions {
		if len(u.Actions) > 0 {
			models = append(models, release.Model{Name: u.Name, Doc: u.Doc, IsUnion: true})
		}
	}
	return models
}

// action describes one action for clients.
func (p *publisher) action(r *release.Action, a *model.Action) {
	r.Kind = release.Kind(a.Kind)
	r.Model = nameOfOwner(a)
	r.Doc = a.Doc
	r.Input = p.input(a)
	r.Result = p.result(a)
	r.Anonymous = access.Decide(a.Rules, access.Anonymous()).Verdict != access.Never
	r.AnonymousUploads = len(r.Files) > 0 && access.AdmitsUploads(a.Rules)
	if a.Many {
		r.Row = p.body(a, "Row")
	}
	r.Custom = a.Custom
	if a.Invitation != nil {
		r.Invitation = a.Invitation.Address.Name
	}
	for _, rule := range a.Rules {
		r.Rules = append(r.Rules, rule.Text)
	}
	if len(a.Reads) > 0 && (a.Kind == model.Get || a.Kind == model.Update || a.Kind == model.Delete) {
		r.LookUp = a.Reads[0].Name
		if a.Kind == model.Update {
			r.LookUp = "where." + r.LookUp
		}
	}
}

// nameOfOwner is the model or union that an action belongs to.
func nameOfOwner(a *model.Action) string {
	if a.Union != nil {
		return a.Union.Name
	}
	return a.Model.Name
}
