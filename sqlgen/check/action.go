package check

import (
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// actionDecl is an action with its tree and the results of its own checks.
type actionDecl struct {
	*model.Action
	tree   *syntax.Action
	model  *modelDecl // nil for an action of a union
	manyAt syntax.Span
	union  *unionDecl // nil for an action of a model
	attrs  []*syntax.Attribute

	brokenInputs   map[string]bool // inputs in error, by name
	reservedLabels []string        // labels of inputs that are reserved
	doubtful       bool            // an input, @where or @set is in error: what is missing may be there
	inputsInError  bool            // an input is in error, so what the inputs make is not known
	root           *model.Level    // of a create: what its inputs make
	embedded       clashes         // paths of @embed
	embedSpans     []pathSpan
	setKeys        []setKey
	allowances
}

// owner returns the name of the action's model or union.
func (a *actionDecl) owner() string {
	if a.union != nil {
		return a.union.Name
	}
	return a.model.Name
}

// variable returns the variable of the action's model or union.
func (a *actionDecl) variable() string {
	if a.union != nil {
		return a.union.Variable
	}
	return a.model.Variable
}

// checkActions declares the actions of all models and unions, then checks each.
func (c *checker) checkActions() {
	var functions clashes
	for _, m := range c.models {
		for _, tree := range syntax.ActionsOf(m.tree.Members) {
			c.declareAction(&actionDecl{tree: tree, model: m}, &functions)
		}
	}
	for _, u := range c.unions {
		for _, tree := range syntax.ActionsOf(u.tree.Members) {
			c.declareAction(&actionDecl{tree: tree, union: u}, &functions)
		}
	}
	c.declareJobs(&functions)
	for _, a := range c.actions {
		c.checkAction(a)
	}
	c.checkJobs()
	slices.SortStableFunc(c.schema.Actions, func(a, b *model.Action) int { return c.comparePlaces(a.Span, b.Span) })
}

// comparePlaces compares places by the order of files, then within a file.
func (c *checker) comparePlaces(a, b syntax.Span) int {
	if a.File != b.File {
		index := func(s syntax.Span) int {
			return slices.IndexFunc(c.files, func(f *syntax.File) bool { return f.Source == s.File })
		}
		return index(a) - index(b)
	}
	return a.Start.Offset - b.Start.Offset
}

// declareAction enters an action under its name, unless that is taken.
func (c *checker) declareAction(a *actionDecl, functions *clashes) {
	name := a.tree.Name
	if earlier := c.names[name.Name]; earlier != nil {
		c.report(DuplicateAction, name.Span(), duplicateAction(name.Name), note(earlier.Span, declaredHere(name.Name)))
		return
	}
	a.Action = &model.Action{
		Kind:     model.Kind(a.tree.Kind.Name),
		Name:     name.Name,
		Function: model.SnakeForm(name.Name),
		Doc:      text(a.tree.Doc),
		Span:     name.Span(),
	}
	a.brokenInputs = map[string]bool{}
	c.names[name.Name] = a
	if isFieldName(name.Name) {
		c.checkActionName(a, functions)
	}
	if kind := a.tree.Kind; !slices.Contains(kindNames(), kind.Name) && a.Kind != model.ReadHistory {
		c.report(UnknownActionKind, kind.Span(), unknownActionKind(kind.Name, syntax.Suggest(kind.Name, append(kindNames(), string(model.ReadHistory)))))
		return
	}
	if a.union != nil && a.Kind != model.Get && a.Kind != model.List {
		c.report(UnionActionKind, a.tree.Kind.Span(), unionActionKind(a.union.Name, a.Kind))
		return
	}
	c.actions = append(c.actions, a)
	c.schema.Actions = append(c.schema.Actions, a.Action)
	if a.union != nil {
		a.Union = a.union.Union
		a.union.Actions = append(a.union.Actions, a.Action)
	} else {
		a.Model = a.model.Model
		a.model.Actions = append(a.model.Actions, a.Action)
	}
}

func (c *checker) checkActionName(a *actionDecl, functions *clashes) {
	if isReservedAction(a.Name) && (a.Name != model.AcceptInvitation || c.invites()) {
		c.report(ReservedName, a.Span, reservedAction(a.Name))
	}
	if len(a.Function) > model.MaxColumnName {
		c.report(NameTooLong, a.Span, nameTooLong(a.Name, a.Function, model.MaxColumnName))
	}
	if earlier, found := functions.add(a.Function, a.Name, a.Span); found {
		c.report(NameClash, a.Span, nameClash(a.Name, earlier.name, a.Function), clashNotes(earlier)...)
	}
}

// actionBearer tells which attributes an action takes.
func actionBearer(a *actionDecl) bearer {
	switch a.Kind {
	case model.Get:
		if a.union != nil {
			return onUnionGet
		}
		return onGet
	case model.List:
		if a.union != nil {
			return onUnionList
		}
		return onList
	case model.Create:
		return onCreate
	case model.Update:
		return onUpdate
	case model.Delete:
		return onDelete
	case model.Read:
		return onRead
	case model.ReadHistory:
		return onHistory
	case model.Start:
		return onJob
	}
	return onWrite
}

// checkAction checks everything that an action says.
func (c *checker) checkAction(a *actionDecl) {
	a.doubtful = a.tree.Incomplete()
	a.attrs = c.allowedAttributes(actionBearer(a), a.tree.Attrs)
	if a.Kind == model.Read || a.Kind == model.Write {
		a.Custom, a.CustomAt = true, a.tree.Kind.Span()
	}
	for _, at := range a.attrs {
		if at.Name.Name == "function" {
			c.noArgument(at)
			a.Custom, a.CustomAt = true, at.Span()
		}
	}
	c.checkClauses(a)
	if a.Kind == model.Create && !a.Custom {
		c.checkLevels(a)
	}
	c.checkUpdateValues(a)
	a.inputsInError = a.doubtful
	for _, at := range a.attrs {
		c.checkActionAttr(a, at)
	}
	c.checkInvitation(a)
	c.checkConflicts(a)
	c.findRules(a)
	c.findPins(a)
	if a.Kind == model.Create && !a.Custom && !a.doubtful {
		c.checkCover(a, a.root)
	}
	c.checkUnused(a)
	if a.Many {
		c.checkMany(a)
	}
	if a.Custom && (a.Kind != model.Start || !a.tree.Incomplete()) {
		c.checkFunction(a)
	}
}

// checkClauses checks which clauses an action has, and their inputs.
func (c *checker) checkClauses(a *actionDecl) {
	t := a.tree
	a.Reads = c.inputs(a, t.Reads, false)
	switch {
	case a.Kind == model.Create && len(t.Reads.List) > 0:
		c.report(ReadInputOnCreate, t.Reads.Span(), readInputOnCreate())
		a.doubtful = true
	case t.With != nil && a.Kind != model.Create && a.Kind != model.Update:
		c.report(WithNotAllowed, t.With.Span(), withNotAllowed(a.Kind))
		a.doubtful = true
	case a.Kind == model.ReadHistory:
		c.checkHistoryAction(a)
	}
	if t.With != nil {
		a.Writes = c.inputs(a, t.With, true)
	}
	c.checkReturns(a)
}

// checkReturns checks the result of a read or write.
func (c *checker) checkReturns(a *actionDecl) {
	returns := a.tree.Returns
	hasResult := a.Kind == model.Read || a.Kind == model.Write
	switch {
	case returns == nil && !hasResult || a.tree.Incomplete():
		return
	case returns == nil:
		c.report(BadReturns, a.Span, returnsMissing(a.Kind))
		return
	case !hasResult:
		c.report(BadReturns, returns.Span(), returnsNotAllowed(a.Kind))
		return
	case len(returns.List) != 1:
		c.report(BadReturns, returns.Span(), returnsNotOne())
		return
	}
	in := returns.List[0]
	name := in.Path.Steps[0]
	if in.Incomplete() || in.Path.Incomplete() {
		return
	}
	if in.Label != nil || in.Array != nil || in.Optional != nil || len(in.Path.Steps) > 1 {
		c.report(BadReturns, in.Span(), returnsNotOne())
		return
	}
	t := c.types[name.Name]
	_, isScalar := expr.ScalarNamed(name.Name)
	switch {
	case name.Name == "Any":
		a.Returns = &model.Returns{}
	case t != nil && t.message != nil:
		a.Returns = &model.Returns{Message: t.message}
		c.checkResultMessage(t.message, name.Span(), c.results)
	case t == nil && !isScalar && isTypeName(name.Name):
		c.unknownMessage(name)
	default:
		c.report(BadReturns, in.Span(), returnsNotOne())
	}
}

// unknownMessage reports that there is no message of that name.
func (c *checker) unknownMessage(name *syntax.Ident) {
	if c.lost[name.Name] {
		return
	}
	c.report(UnknownType, name.Span(), unknownType(name.Name, c.suggest(name.Name, c.messageNames)))
}

// checkUpdateValues checks that the values of an update are the row's own, and
// that there is something to write.
func (c *checker) checkUpdateValues(a *actionDecl) {
	if a.Kind != model.Update {
		return
	}
	for _, in := range a.Writes {
		if in.Explicit || len(in.Path) == 1 {
			continue
		}
		isLink := len(in.Path) == 2 && in.Path[0].IsToOne() && in.Path[0].Column != "" && in.Path[1].Name == "id"
		if !isLink && !c.isDoubtful(in.Path[0]) {
			c.report(UpdateBelowRelation, in.Span, updateBelowRelation(in.Path))
			a.doubtful = true
		}
	}
	hasSet := slices.ContainsFunc(a.tree.Attrs, func(at *syntax.Attribute) bool { return at.Name.Name == "set" })
	hasValue := slices.ContainsFunc(a.Writes, func(in *model.Input) bool { return !in.Explicit })
	if !hasSet && !hasValue && !a.Custom && !a.doubtful {
		c.report(NothingToWrite, a.Span, nothingToWrite(a.Name))
	}
}

// isDoubtful tells whether a field is a relation in error.
func (c *checker) isDoubtful(f *model.Field) bool {
	d := c.fields[f]
	return d != nil && d.doubtful
}

// scopeOf returns the scope of an action's expressions at a place.
func (c *checker) scopeOf(a *actionDecl, place expr.Place) *scope {
	s := &scope{c: c, place: place, variable: a.variable(), model: a.owner(), action: a}
	switch place {
	case expr.ActionValidate:
		s.nameable = false
	case expr.ActionRule:
		s.nameable = !a.Kind.IsOfCode()
	default:
		s.nameable = true
	}
	return s
}

func (c *checker) checkActionAttr(a *actionDecl, at *syntax.Attribute) {
	switch at.Name.Name {
	case "allow":
		c.checkAllow(&a.allowances, actionWarnings(), at)
	case "where":
		c.checkWhere(a, at)
	case "set":
		c.checkSet(a, at)
	case "permission":
		a.Rules = append(a.Rules, c.actionRule(at, c.scopeOf(a, expr.ActionRule))...)
		a.OwnRules = true
	case "validate":
		if v := c.validation(at, c.scopeOf(a, expr.ActionValidate), c.inputOf(a)); v != nil {
			a.Validations = append(a.Validations, v)
		}
	case "orderBy":
		c.checkOrderBy(a, at)
	case "sortable":
		c.checkSortable(a, at)
	case "facet":
		c.checkFacet(a, at)
	case "embed":
		c.checkEmbed(a, at)
	case "select":
		c.checkSelect(a, at)
	case "live":
		c.checkLive(a, at)
	case "many":
		a.Many, a.manyAt = c.noArgument(at), at.Name.Span()
	}
}

func (c *checker) checkWhere(a *actionDecl, at *syntax.Attribute) {
	if a.Custom {
		c.report(FunctionAttribute, at.Name.Span(), functionAttribute("where"))
		a.doubtful = true
		return
	}
	if w := c.where(at, c.scopeOf(a, expr.Where)); w != nil {
		a.Wheres = append(a.Wheres, w)
	} else {
		a.doubtful = true
	}
}

// where reads a @where. It is nil if it is in error.
func (c *checker) where(at *syntax.Attribute, s *scope) *model.Where {
	value := c.oneArgument(at, "expression")
	if value == nil {
		return nil
	}
	node := s.check(value)
	if node == nil {
		return nil
	}
	return &model.Where{Expression: node, Text: syntax.FormatExpr(value), Span: at.Span()}
}

// findRules finds the rules that apply: the action's own, else those of its model
// or union that name its kind.
func (c *checker) findRules(a *actionDecl) {
	if slices.ContainsFunc(a.tree.Attrs, func(at *syntax.Attribute) bool { return at.Name.Name == "permission" }) {
		return
	}
	var rules []*model.Rule
	if a.union != nil {
		rules = a.union.Rules
	} else {
		rules = a.model.Rules
	}
	for _, r := range rules {
		if slices.Contains(r.Kinds, a.Kind.RuleKind()) {
			a.Rules = append(a.Rules, r)
		}
	}
}

// checkUnused reports explicit inputs that nothing mentions. It searches the trees,
// so that an expression in error counts.
func (c *checker) checkUnused(a *actionDecl) {
	if a.Custom || a.Kind == model.ReadHistory {
		return
	}
	for _, in := range slices.Concat(a.Reads, a.Writes) {
		if !in.Explicit || a.tree.Incomplete() {
			continue
		}
		mentioned := slices.ContainsFunc(a.tree.Attrs, func(at *syntax.Attribute) bool {
			switch at.Name.Name {
			case "where", "set", "permission", "validate":
				return at.Incomplete() || slices.ContainsFunc(at.Args, func(arg *syntax.Arg) bool {
					isExpression := arg.Label == nil || arg.Label.Name == "expression"
					return isExpression && mentionsName(arg.Value, in.Name)
				})
			}
			return false
		})
		if !mentioned {
			c.report(UnusedInput, in.Span, unusedInput(in.Name, a.Kind))
		}
	}
}

// mentionsName tells whether a path in an expression begins with the name, or a
// word such as true equals it.
func mentionsName(e syntax.Expr, name string) bool {
	switch e := e.(type) {
	case *syntax.Path:
		return e.Steps[0].Name == name
	case *syntax.Bool:
		return name == strconv.FormatBool(e.Value)
	case *syntax.Null:
		return name == "null"
	case *syntax.Binary:
		return mentionsName(e.Left, name) || mentionsName(e.Right, name)
	case *syntax.Not:
		return mentionsName(e.Operand, name)
	case *syntax.Negative:
		return mentionsName(e.Operand, name)
	case *syntax.Call:
		return slices.ContainsFunc(e.Args, func(arg syntax.Expr) bool { return mentionsName(arg, name) })
	case *syntax.Paren:
		return mentionsName(e.Inner, name)
	case *syntax.List:
		return slices.ContainsFunc(e.Elements, func(el syntax.Expr) bool { return mentionsName(el, name) })
	case *syntax.BadExpr:
		return true
	}
	return false
}
