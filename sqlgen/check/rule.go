package check

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// ruleArgs are the arguments of a @permission by label; each may be nil.
type ruleArgs struct {
	expression, roles, actions, jobs *syntax.Arg
}

// ruleArgs sorts the arguments of a @permission. It is false if they are in error;
// those that can be read are there nonetheless.
func (c *checker) ruleArgs(a *syntax.Attribute) (args ruleArgs, ok bool) {
	ok = true
	for _, arg := range a.Args {
		var place **syntax.Arg
		switch {
		case arg.Target != nil || arg.Label == nil:
		case arg.Label.Name == "expression":
			place = &args.expression
		case arg.Label.Name == "roles":
			place = &args.roles
		case arg.Label.Name == "actions":
			place = &args.actions
		case arg.Label.Name == "jobs":
			place = &args.jobs
		}
		if place == nil || *place != nil {
			if ok {
				c.badArgument(a, arg)
			}
			ok = false
			continue
		}
		*place = arg
	}
	if !ok {
		return args, false
	}
	if args.expression == nil && args.roles == nil {
		c.report(EmptyRule, a.Name.Span(), emptyRule())
		return args, false
	}
	return args, true
}

// modelRule reads a @permission of a model or union and counts the kinds that it
// covers. There is no rule if it is in error.
func (c *checker) modelRule(a *syntax.Attribute, variable, modelName string, count map[model.Kind]bool) []*model.Rule {
	args, ok := c.ruleArgs(a)
	kinds, kindsOK := []model.Kind(nil), true
	if args.jobs == nil || args.actions != nil {
		kinds, kindsOK = c.ruleKinds(a, args.actions, count)
	}
	if !ok {
		return nil
	}
	var jobs []string
	if args.jobs != nil {
		if jobs, ok = c.ruleJobs(a, args.jobs); !ok {
			return nil
		}
	}
	s := &scope{c: c, place: expr.ModelRule, variable: variable, model: modelName}
	s.nameable = !slices.Contains(kinds, model.Read) && !slices.Contains(kinds, model.Write)
	rules := c.rule(a, args, s)
	if !kindsOK {
		return nil
	}
	for _, r := range rules {
		r.Kinds, r.Jobs, r.JobKinds = kinds, jobs, kinds
		if kinds == nil {
			r.JobKinds = []model.Kind{model.Get, model.List, model.Create, model.Update, model.Delete}
		}
	}
	return rules
}

// ruleKinds reads the kinds of a model's rule. A rule with kinds in error counts as
// covering all, since the meant kinds are not known.
func (c *checker) ruleKinds(a *syntax.Attribute, arg *syntax.Arg, count map[model.Kind]bool) (kinds []model.Kind, ok bool) {
	ok = true
	defer func() {
		for _, k := range allKinds() {
			if !ok || slices.Contains(kinds, k) {
				count[k] = true
			}
		}
	}()
	if arg == nil {
		if !a.Incomplete() && !hasBadLabel(a) {
			c.report(RuleActions, a.Name.Span(), ruleWithoutActions())
		}
		return nil, false
	}
	list, isList := arg.Value.(*syntax.List)
	if !isList || len(list.Elements) == 0 {
		c.report(RuleActions, arg.Value.Span(), ruleWithoutActions())
		return nil, false
	}
	for _, e := range list.Elements {
		name := bareName(e)
		if name == nil || !slices.Contains(allKinds(), model.Kind(name.Name)) {
			near := ""
			if name != nil {
				near = syntax.Suggest(name.Name, kindNames())
			}
			c.report(RuleActions, e.Span(), ruleActionNoKind(near))
			ok = false
			continue
		}
		if !slices.Contains(kinds, model.Kind(name.Name)) {
			kinds = append(kinds, model.Kind(name.Name))
		}
	}
	return kinds, ok
}

// hasBadLabel tells whether a @permission has an argument that it does not know,
// which may have been meant as actions.
func hasBadLabel(a *syntax.Attribute) bool {
	return slices.ContainsFunc(a.Args, func(arg *syntax.Arg) bool {
		return arg.Label == nil || arg.Label.Name != "expression" && arg.Label.Name != "roles" && arg.Label.Name != "actions" && arg.Label.Name != "jobs"
	})
}

// actionRule reads a @permission of an action. There is no rule if it is in error.
func (c *checker) actionRule(a *syntax.Attribute, s *scope) []*model.Rule {
	args, ok := c.ruleArgs(a)
	if args.actions != nil {
		c.report(RuleActions, args.actions.Label.Span(), ruleActionsOnAction())
		ok = false
	}
	if args.jobs != nil {
		c.report(RuleActions, args.jobs.Label.Span(), ruleJobsOnAction())
		ok = false
	}
	if !ok {
		return nil
	}
	return c.rule(a, args, s)
}

// rule checks the expression and the roles of a rule.
func (c *checker) rule(a *syntax.Attribute, args ruleArgs, s *scope) []*model.Rule {
	r := &model.Rule{Span: a.Span()}
	good := true
	if args.expression != nil {
		r.Expression = s.check(args.expression.Value)
		good = r.Expression != nil
		r.Condition = syntax.FormatExpr(args.expression.Value)
	}
	if args.roles != nil {
		good = c.ruleRoles(r, args.roles) && good
	}
	if !good {
		return nil
	}
	return c.byExpressions(r, args, s)
}

// byExpressions splits a rule that asks for roles with expressions.
func (c *checker) byExpressions(r *model.Rule, args ruleArgs, s *scope) []*model.Rule {
	var rules []*model.Rule
	byEmail := slices.DeleteFunc(slices.Clone(r.Roles), func(role *model.Role) bool { return len(role.Expressions) > 0 && !role.HasMembers() })
	if len(byEmail) > 0 || len(r.Roles) == 0 {
		own := *r
		own.Roles = byEmail
		own.Text = ruleText(r.Condition, byEmail, "")
		rules = append(rules, &own)
	}
	for _, role := range r.Roles {
		for _, by := range role.Expressions {
			tree := by.Tree
			own := &model.Rule{Span: r.Span, By: by, Role: role, Rest: r.Expression, Condition: by.Text, Text: ruleText(r.Condition, []*model.Role{role}, by.Text)}
			if args.expression != nil {
				tree = syntax.Both(args.expression.Value, by.Tree)
				own.Condition = r.Condition + " && " + by.Text
			}
			if own.Expression = s.check(tree); own.Expression != nil {
				rules = append(rules, own)
			}
		}
	}
	return rules
}

// ruleText words a rule: its expression, its roles, and the expression by which the caller
// has the role.
func ruleText(condition string, roles []*model.Role, by string) string {
	var parts []string
	if condition != "" {
		parts = append(parts, condition)
	}
	if len(roles) > 0 {
		names := make([]string, len(roles))
		for i, role := range roles {
			names[i] = role.Name
		}
		text := "roles: " + strings.Join(names, ", ")
		if by != "" {
			text += " by " + by
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " with ")
}

// checkRoles checks the expressions of roles.
func (c *checker) checkRoles() {
	for _, d := range c.roleTrees {
		role := c.roles[d.Name.Name]
		for _, b := range d.Blocks {
			if b.Expression == nil {
				continue
			}
			s := &scope{c: c, place: expr.RoleRule}
			if node := s.check(b.Expression); node != nil {
				role.Expressions = append(role.Expressions, &model.Membership{Expression: node, Text: syntax.FormatExpr(b.Expression), Tree: b.Expression})
			}
		}
	}
}

// ruleRoles reads the roles of a rule. It is false if any is in error.
func (c *checker) ruleRoles(r *model.Rule, arg *syntax.Arg) bool {
	list, ok := arg.Value.(*syntax.List)
	if !ok || len(list.Elements) == 0 {
		c.report(UnknownRole, arg.Value.Span(), rolesNoList())
		return false
	}
	good := true
	for _, e := range list.Elements {
		name := bareName(e)
		if name == nil {
			c.report(UnknownRole, e.Span(), rolesNoList())
			good = false
			continue
		}
		role := c.roles[name.Name]
		if role == nil {
			good = false
			if !c.lost[name.Name] {
				c.report(UnknownRole, name.Span(), unknownRole(name.Name, c.suggest(name.Name, c.roleNames)))
			}
			continue
		}
		if !slices.Contains(r.Roles, role) {
			r.Roles = append(r.Roles, role)
		}
	}
	return good
}

// allKinds lists the kinds of actions.
func allKinds() []model.Kind {
	return []model.Kind{model.Get, model.List, model.Create, model.Update, model.Delete, model.Read, model.Write}
}

func kindNames() []string {
	var names []string
	for _, k := range allKinds() {
		names = append(names, string(k))
	}
	return names
}
