package lower

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// manifest returns what a server reads of the release, as JSON.
func (l *lowering) manifest() []byte {
	m := release.Manifest{Format: release.Format, Constraints: map[string]release.Constraint{}}
	for _, a := range l.schema.APIs {
		api := release.API{Name: a.Name, Path: a.Path, Doc: a.Doc, Actions: []string{}}
		for _, action := range a.Actions {
			api.Actions = append(api.Actions, action.Name)
		}
		m.APIs = append(m.APIs, api)
	}
	m.Models = modelsWithActions(l.schema)
	classes := access.Classes(l.schema)
	for _, c := range classes {
		m.Callers = append(m.Callers, c.Name)
	}
	m.Records = map[string][]release.Member{}
	p := newPublisher(l.schema)
	for _, a := range l.schema.Actions {
		published := l.publish(a, p)
		if name, members := publishedRecord(a); name != "" {
			published.Record, m.Records[name] = name, members
			published.Order, published.Sortable = publishedOrder(a)
		}
		for _, c := range classes {
			published.Access = append(published.Access, string(access.Decide(a.Rules, c).Verdict))
		}
		m.Actions = append(m.Actions, published)
	}
	for _, e := range l.schema.Enums {
		p.enum(e)
	}
	for _, u := range l.schema.Unions {
		for _, f := range u.Fields {
			if enum := p.sourceEnum(f); enum != nil && len(u.Actions) > 0 {
				p.enum(enum)
			}
		}
	}
	m.Schemas = p.schemas()
	for _, c := range l.constraints {
		m.Constraints[c.name] = c.constraint
	}
	m.Headers = l.headersRead()
	m.Environment = l.schema.Config.Environment
	m.Secrets = l.schema.Config.Secrets
	for _, c := range l.schema.Config.Claims {
		m.Claims = append(m.Claims, release.Claim{Key: c.Key, Column: schema.SnakeForm(c.Field)})
	}
	for _, model := range l.schema.Models {
		for _, f := range storedFields(model) {
			if f.Type.Kind == expr.Secret {
				m.Encrypted = append(m.Encrypted, release.Column{Table: model.Table, Column: f.Column})
			}
		}
	}

	return manifestText(&m)
}

// modelsWithActions describes the models and unions that have actions.
func modelsWithActions(s *schema.Schema) []release.Model {
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

// manifestText writes a manifest with a line for each action, schema and
// constraint: it is read by people too, and by every server that starts.
func manifestText(m *release.Manifest) []byte {
	text := func(v any) []byte {
		encoded, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("lower: write the manifest: %v", err))
		}
		return encoded
	}
	actions := make([][]byte, len(m.Actions))
	for i, a := range m.Actions {
		actions[i] = text(a)
	}
	schemas := make([][]byte, len(m.Schemas))
	for i, s := range m.Schemas {
		schemas[i] = fmt.Appendf(nil, "%s:%s", text(s.Name), s.JSON)
	}
	records := make([][]byte, 0, len(m.Records))
	for _, name := range slices.Sorted(maps.Keys(m.Records)) {
		records = append(records, fmt.Appendf(nil, "%s:%s", text(name), text(m.Records[name])))
	}
	names := slices.Sorted(maps.Keys(m.Constraints))
	constraints := make([][]byte, len(names))
	for i, name := range names {
		constraints[i] = fmt.Appendf(nil, "%s:%s", text(name), text(m.Constraints[name]))
	}
	block := func(open string, lines [][]byte, end string) []byte {
		return fmt.Appendf(nil, "%s\n%s\n%s", open, bytes.Join(lines, []byte(",\n")), end)
	}
	members := [][]byte{
		fmt.Appendf(nil, `"format":%d`, m.Format),
		fmt.Appendf(nil, `"apis":%s`, text(m.APIs)),
		fmt.Appendf(nil, `"models":%s`, text(m.Models)),
		fmt.Appendf(nil, `"callers":%s`, text(m.Callers)),
		fmt.Appendf(nil, `"actions":%s`, block("[", actions, "]")),
		fmt.Appendf(nil, `"records":%s`, block("{", records, "}")),
		fmt.Appendf(nil, `"schemas":%s`, block("{", schemas, "}")),
		fmt.Appendf(nil, `"constraints":%s`, block("{", constraints, "}")),
		fmt.Appendf(nil, `"headers":%s`, text(m.Headers)),
		fmt.Appendf(nil, `"environment":%s`, text(m.Environment)),
		fmt.Appendf(nil, `"secrets":%s`, text(m.Secrets)),
	}
	if len(m.Claims) > 0 {
		members = append(members, fmt.Appendf(nil, `"claims":%s`, text(m.Claims)))
	}
	if len(m.Encrypted) > 0 {
		members = append(members, fmt.Appendf(nil, `"encrypted":%s`, text(m.Encrypted)))
	}
	return block("{", members, "}")
}

// publish describes one action for the server.
func (l *lowering) publish(a *schema.Action, p *publisher) *release.Action {
	r := &release.Action{
		Name:      a.Name,
		Kind:      release.Kind(a.Kind),
		Model:     nameOfOwner(a),
		Doc:       a.Doc,
		Function:  functionName(a),
		Input:     p.input(a),
		Result:    p.result(a),
		Anonymous: access.Decide(a.Rules, access.Anonymous()).Verdict != access.Never,
		Custom:    a.Custom,
		Early:     l.early[a],
	}
	for _, rule := range a.Rules {
		r.Rules = append(r.Rules, rule.Text)
	}
	for _, f := range l.forms[a] {
		if r.Forms == nil {
			r.Forms = map[string]string{}
		}
		r.Forms[f.operators] = f.function
	}
	r.Inputs = publishedInputs(a)
	r.Sealed = publishedSealed(a)
	r.Files = publishedFiles(a)
	r.Inline = inlineFiles(a)
	r.AnonymousUploads = len(r.Files) > 0 && access.AdmitsUploads(a.Rules)
	if len(a.Reads) > 0 && (a.Kind == schema.Get || a.Kind == schema.Update || a.Kind == schema.Delete) {
		r.LookUp = a.Reads[0].Name
		if a.Kind == schema.Update {
			r.LookUp = "where." + r.LookUp
		}
	}
	return r
}

// nameOfOwner is the model or union that an action belongs to.
func nameOfOwner(a *schema.Action) string {
	if a.Union != nil {
		return a.Union.Name
	}
	return a.Model.Name
}

// headersRead returns the headers that the database reads. One that is only made a
// password or secret is none of them.
func (l *lowering) headersRead() []string {
	var nodes []expr.Node
	for _, a := range l.schema.Actions {
		nodes = append(nodes, expressionsRead(a)...)
	}
	for _, m := range l.schema.Models {
		for _, r := range m.Rules {
			if r.Expression != nil {
				nodes = append(nodes, r.Expression)
			}
		}
	}
	return expr.Mentions(nodes...).Headers
}
