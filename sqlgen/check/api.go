package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// defaultAPI is the name of the api that exposes everything.
const defaultAPI = "Api"

// checkAPIs checks what each api exposes and adds the default api, unless it is
// switched off or declared.
func (c *checker) checkAPIs() {
	isDeclared := slices.ContainsFunc(c.apis, func(d *apiDecl) bool { return d.Name == defaultAPI })
	if c.options.Config.UseDefaultAPI && !isDeclared {
		for _, d := range c.apis {
			if d.Path == "api" {
				c.report(NameClash, d.tree.Name.Span(), apiClash(d.Name, defaultAPI, d.Path))
			}
		}
		c.schema.APIs = append(c.schema.APIs, &model.API{Name: defaultAPI, Path: "api", Actions: c.schema.Actions, ExposesIdentity: true})
	}
	for _, d := range c.apis {
		c.checkAPI(d)
		c.schema.APIs = append(c.schema.APIs, d.API)
	}
	c.warnNothingExposed()
	c.warnProviders()
}

// checkAPI finds the actions that an api exposes.
func (c *checker) checkAPI(d *apiDecl) {
	exposed := map[*model.Action]bool{}
	seen := map[string]syntax.Span{}
	for _, tree := range d.tree.Models {
		name := tree.Name
		if earlier, found := seen[name.Name]; found {
			c.report(DuplicateApiModel, name.Span(), duplicateAPIModel(d.Name, name.Name), note(earlier, firstHere(name.Name)))
			continue
		}
		seen[name.Name] = name.Span()
		t := c.types[name.Name]
		if t == nil || t.model == nil && t.union == nil {
			if !c.lost[name.Name] {
				c.report(UnknownModel, name.Span(), unknownModelOrUnion(name.Name, c.suggest(name.Name, c.exposable)))
			}
			continue
		}
		if name.Name == identityName {
			c.exposeIdentity(d.API, tree)
			continue
		}
		var actions []*model.Action
		if t.model != nil {
			actions = t.model.Actions
		} else {
			actions = t.union.Actions
		}
		if !tree.Listed {
			for _, a := range actions {
				exposed[a] = true
			}
			continue
		}
		for _, ident := range tree.Actions {
			i := slices.IndexFunc(actions, func(a *model.Action) bool { return a.Name == ident.Name })
			if i >= 0 {
				exposed[actions[i]] = true
				continue
			}
			var names []string
			for _, a := range actions {
				names = append(names, a.Name)
			}
			c.unknownAction(ident, name.Name, names)
		}
	}
	for _, a := range c.schema.Actions {
		if exposed[a] || a.Kind == model.Start {
			d.Actions = append(d.Actions, a)
		}
	}
}

// exposeIdentity finds the actions of Identity that an api exposes.
func (c *checker) exposeIdentity(api *model.API, tree *syntax.APIModel) {
	for _, ident := range tree.Actions {
		if !slices.Contains(model.IdentityActions(), ident.Name) {
			c.unknownAction(ident, identityName, model.IdentityActions())
			continue
		}
		api.IdentityActions = append(api.IdentityActions, ident.Name)
	}
	api.ExposesIdentity = !tree.Listed || len(api.IdentityActions) > 0
}

// exposable returns the names of all models and unions.
func (c *checker) exposable() []string {
	names := c.modelNames()
	for _, u := range c.unions {
		names = append(names, u.Name)
	}
	return names
}

// unknownAction reports that a model or union has no action of that name, unless
// it was declared in error.
func (c *checker) unknownAction(name *syntax.Ident, owner string, names []string) {
	if a := c.names[name.Name]; a != nil && a.owner() == owner || c.isIncomplete(owner) {
		return
	}
	var notes []syntax.Note
	if a := c.names[name.Name]; a != nil {
		notes = append(notes, note(a.Span, actionOf(name.Name, a.owner())))
	}
	c.report(UnknownAction, name.Span(), unknownAction(owner, name.Name, syntax.Suggest(name.Name, names)), notes...)
}

// warnProviders warns of roles by e-mail address that a provider can give to anybody.
func (c *checker) warnProviders() {
	for _, r := range c.schema.Roles {
		if r.HasMembers() && c.options.Config.ProvesAny {
			c.warn(ProviderProvesAny, r.Span, providerProvesAny(r.Name))
		}
	}
}

// warnNothingExposed warns if no request can reach an action.
func (c *checker) warnNothingExposed() {
	isExposing := func(api *model.API) bool { return len(api.Actions) > 0 || len(api.IdentityActions) > 0 }
	if slices.ContainsFunc(c.schema.APIs, isExposing) || c.errs.HasErrors() {
		return
	}
	span := syntax.Span{File: c.files[0].Source, Start: syntax.Pos{Line: 1, Column: 1}, End: syntax.Pos{Line: 1, Column: 1}}
	if len(c.apis) > 0 {
		span = c.apis[0].tree.Name.Span()
	}
	c.warn(NothingExposed, span, nothingExposed(len(c.schema.Actions) == 0))
}
