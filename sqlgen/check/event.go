package check

import (
	"path"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkEvents reads the @on of models, and then who the jobs of their rules are.
func (c *checker) checkEvents() {
	for _, m := range c.models {
		for _, a := range c.allowedAttributes(onModel, syntax.AttributesOf(m.tree.Members)) {
			if a.Name.Name == "on" {
				c.event(m, a)
			}
		}
	}
	for _, s := range c.schema.Subscribers {
		for _, webhook := range c.schema.Config.Webhooks {
			if s.IsCode && s.Name == webhook.Name {
				c.report(TwoSubscribers, webhook.Span, twoSubscribers(s.Name))
			}
		}
	}
	for _, named := range c.jobNames {
		names := c.codeNames()
		if !slices.Contains(names, named.Name) && !c.brokenJobs {
			c.report(UnknownJob, named.Span(), unknownJob(named.Name, syntax.Suggest(named.Name, names)))
		}
	}
	for _, a := range c.schema.Actions {
		isLogged := len(c.schema.Subscribers) > 0 || slices.ContainsFunc(c.schema.Models, func(m *model.Model) bool { return m.History != nil })
		a.IsLogged = isLogged && slices.Contains([]model.Kind{model.Create, model.Update, model.Delete, model.Write}, a.Kind)
	}
}

// event reads an @on([kinds], subscriber, fields: [field], where: expression).
func (c *checker) event(m *modelDecl, a *syntax.Attribute) {
	e := &model.Event{Model: m.Model, Span: a.Span()}
	before := len(*c.errs)
	var plain []syntax.Expr
	labelled := map[string]*syntax.Arg{}
	for _, arg := range a.Args {
		switch {
		case arg.Target == nil && arg.Label == nil && len(plain) < 2 && len(labelled) == 0:
			plain = append(plain, arg.Value)
		case arg.Target == nil && arg.Label != nil && labelled[arg.Label.Name] == nil && (arg.Label.Name == "fields" || arg.Label.Name == "where"):
			labelled[arg.Label.Name] = arg
		default:
			c.badArgument(a, arg)
			c.brokenJobs = true
			return
		}
	}
	if len(plain) < 2 || bareName(plain[1]) == nil {
		c.badArguments(a, a.Name.Span())
		c.brokenJobs = true
		return
	}
	c.eventKinds(e, plain[0])
	if arg := labelled["fields"]; arg != nil {
		c.eventFields(m, e, arg)
	}
	if arg := labelled["where"]; arg != nil {
		s := &scope{c: c, place: expr.EventWhere, variable: m.Variable, model: m.Name, nameable: true}
		e.Where = s.check(arg.Value)
	}
	s := c.subscriber(bareName(plain[1]))
	if s == nil || len(*c.errs) > before {
		c.brokenJobs = true
		return
	}
	s.Events = append(s.Events, e)
}

// eventKinds reads the kinds of an @on.
func (c *checker) eventKinds(e *model.Event, value syntax.Expr) {
	list, ok := value.(*syntax.List)
	if !ok || len(list.Elements) == 0 {
		c.report(BadEvent, value.Span(), eventWithoutKinds())
		return
	}
	for _, element := range list.Elements {
		name := bareName(element)
		if name == nil || !slices.Contains([]string{"create", "update", "delete"}, name.Name) || slices.Contains(e.Kinds, model.Kind(name.Name)) {
			c.report(BadEvent, element.Span(), eventWithoutKinds())
			continue
		}
		e.Kinds = append(e.Kinds, model.Kind(name.Name))
	}
}

// eventFields reads the fields whose change is an event.
func (c *checker) eventFields(m *modelDecl, e *model.Event, arg *syntax.Arg) {
	list, ok := arg.Value.(*syntax.List)
	if !ok || len(list.Elements) == 0 {
		c.report(BadEvent, arg.Value.Span(), eventField())
		return
	}
	if !slices.Contains(e.Kinds, model.Update) {
		c.report(BadEvent, arg.Label.Span(), eventFieldsWithoutUpdate())
	}
	for _, element := range list.Elements {
		f := c.ownField(m.Model, element)
		if f == nil {
			continue
		}
		if f.Column == "" || f.Type.Kind.IsWriteOnly() || f.Type.Kind == expr.Vector || slices.Contains(e.Fields, f) {
			c.report(BadEvent, element.Span(), eventField())
			continue
		}
		e.Fields = append(e.Fields, f)
	}
}

// subscriber returns the subscriber of a name, which its first @on declares. It is nil if the name is in error.
func (c *checker) subscriber(name *syntax.Ident) *model.Subscriber {
	for _, s := range c.schema.Subscribers {
		if s.Name == name.Name {
			return s
		}
	}
	if !isFieldName(name.Name) {
		c.report(UnknownSubscriber, name.Span(), unknownSubscriber(name.Name))
		return nil
	}
	s := &model.Subscriber{Name: name.Name, Function: model.SnakeForm(name.Name), Span: name.Span()}
	if earlier := c.names[s.Name]; earlier != nil {
		c.report(NameClash, name.Span(), subscriberClash(s.Name), note(earlier.Span, declaredHere(s.Name)))
		return nil
	}
	if len(s.Function) > model.MaxTableName {
		c.report(NameTooLong, name.Span(), nameTooLong(s.Name, s.Function, model.MaxTableName))
		return nil
	}
	s.IsCode = slices.ContainsFunc(c.options.Functions, func(f string) bool { return path.Base(f) == s.Name+".sql" })
	c.schema.Subscribers = append(c.schema.Subscribers, s)
	return s
}

// codeNames returns the names of the jobs and subscribers, whose code runs under the rules that name it.
func (c *checker) codeNames() []string {
	var names []string
	for _, j := range c.jobs {
		names = append(names, j.Name)
	}
	for _, s := range c.schema.Subscribers {
		names = append(names, s.Name)
	}
	return names
}

// ruleJobs reads the jobs that a model's rule opens.
func (c *checker) ruleJobs(a *syntax.Attribute, arg *syntax.Arg) (jobs []string, ok bool) {
	list, isList := arg.Value.(*syntax.List)
	if !isList || len(list.Elements) == 0 {
		c.report(UnknownJob, arg.Value.Span(), jobsNoList())
		return nil, false
	}
	for _, e := range list.Elements {
		name := bareName(e)
		if name == nil {
			c.report(UnknownJob, e.Span(), jobsNoList())
			return nil, false
		}
		c.jobNames = append(c.jobNames, name)
		jobs = append(jobs, name.Name)
	}
	return jobs, true
}
