package check

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Options is the input of Check besides the schema files.
type Options struct {
	Config    *model.Config // nil means the defaults
	Functions []string      // the project's function files, such as "functions/closeAccount.sql"; folders before the name do not matter
}

// Check turns syntax trees into a checked schema. It appends all errors and
// warnings to errs, but not those that merely follow from another error. The
// schema is nil if errs then holds any error, the parser's included.
func Check(files []*syntax.File, options Options, errs *syntax.Errors) *model.Schema {
	if len(files) == 0 {
		errs.Add(NoSchema, syntax.Span{}, noSchema())
		return nil
	}
	c := newChecker(files, options, errs)
	c.declareIdentity() // the built-in model, with the claims of the configuration
	c.declare()         // what there is: types, roles and apis by name
	c.checkEnums()      // values
	c.checkMessages()   // fields, cycles
	c.declareFields()   // fields of models and their types
	c.relate()          // pairs of relations; FK fields, backlinks
	c.checkConditions() // conditions of models, cycles
	c.checkFieldAttrs() // @unique, @index, @default, @onDelete, @renamed, @accepts, @maxSize, limits, @hidden
	c.checkComputed()   // @computed, cycles
	c.checkRoles()      // expressions of roles
	c.checkModelAttrs() // composites, indexes, @validate, rules
	c.checkUnions()     // fields, arms, rules
	c.checkActions()    // jobs, inputs, attributes, pinning, levels
	c.checkEvents()     // @on, and the jobs of rules
	c.checkAPIs()       // what is exposed where
	c.warnIndexes()     // redundant indexes
	c.warnCascades()    // rows that a delete removes behind its own
	c.warnBothWays()    // computed fields over which writers can deadlock
	c.warnLists()       // missing indexes
	c.warnAccess()      // rules that are missing or widened; @allow
	if errs.HasErrors() {
		return nil
	}
	c.useCopies() // paths of lists along copies
	return c.schema
}

// checker holds what the stages of Check learn. Maps are for looking up only:
// everything that is reported or kept goes by the order of declaration.
type checker struct {
	files   []*syntax.File
	options Options
	errs    *syntax.Errors
	schema  *model.Schema

	attributes []attributeRule

	types     map[string]*typeDecl
	roles     map[string]*model.Role
	roleTrees []*syntax.Role // of those in roles
	models    []*modelDecl   // declared ones, without Identity
	unions    []*unionDecl
	enums     []*enumDecl
	messages  []*messageDecl
	apis      []*apiDecl
	actions   []*actionDecl
	jobs      []*jobDecl
	identity  *model.Model

	fields       map[*model.Field]*fieldDecl     // of declared fields
	backlinks    map[string][]*fieldDecl         // what claims a name on Identity
	relations    map[relationEnds]*relationGroup // relations by the models that they connect
	broken       map[brokenName]bool             // what was declared, but in error
	brokenOwners map[string]bool                 // models and unions with such a field
	brokenArms   map[*model.Union]bool           // unions with an arm that was declared in error
	incomplete   map[string]bool                 // declarations with a part that did not parse
	lost         map[string]bool                 // names of declarations of later stages, and of those that did not parse
	names        map[string]*actionDecl          // actions by name
	results      map[*model.Message]bool         // messages that are results or parts of one

	conditions map[conditionName]*conditionDecl
	checking   []*conditionDecl // those that are being checked, each named by the one before it

	jobNames   []*syntax.Ident // what rules name as jobs
	brokenJobs bool            // whether an @on or a job is in error, so that what they name may be missing

	suggestions int // unknown names for which one that was meant was looked for

	badUniques bool // whether a composite is in error, so that what it would pin is not known
}

// brokenName is a field of a model or union that was declared in error, or without
// field a model or union that may have lost any field to a syntax error. Check
// does not report what mentions it.
type brokenName struct {
	owner, field string
}

// typeDecl is the declaration of a type name: exactly one of its members is set.
type typeDecl struct {
	span    syntax.Span
	model   *model.Model
	union   *model.Union
	enum    *model.Enum
	message *model.Message
}

// modelDecl is a model with the tree it comes from.
type modelDecl struct {
	*model.Model
	tree       *syntax.Model
	fieldDecls []*fieldDecl
	ruleCount  map[model.Kind]bool // kinds for which a rule was written, in error or not
}

// fieldDecl is a field of a model with the tree it comes from.
type fieldDecl struct {
	*model.Field
	allowances
	tree       *syntax.Field
	attrs      []*syntax.Attribute // those that are allowed there
	uniq       bool                // bears @unique itself
	relation   *relationArg        // nil means no @relation
	doubtful   bool                // a relation in error: what depends on its side stays silent
	mayDefault bool                // has a default, be it in error, or an attribute that is not known well enough to tell
}

// unionDecl is a union with the tree it comes from.
type unionDecl struct {
	*model.Union
	tree      *syntax.Union
	ruleCount map[model.Kind]bool
}

// enumDecl is an enum with the tree it comes from.
type enumDecl struct {
	*model.Enum
	tree *syntax.Enum
}

// messageDecl is a message with the tree it comes from.
type messageDecl struct {
	*model.Message
	tree *syntax.Message
}

// apiDecl is an api with the tree it comes from.
type apiDecl struct {
	*model.API
	tree *syntax.API
}

func newChecker(files []*syntax.File, options Options, errs *syntax.Errors) *checker {
	if options.Config == nil {
		options.Config = &model.Config{UseDefaultAPI: true}
	}
	return &checker{
		files:        files,
		options:      options,
		errs:         errs,
		schema:       &model.Schema{Config: options.Config},
		attributes:   attributeRules(),
		types:        map[string]*typeDecl{},
		roles:        map[string]*model.Role{},
		fields:       map[*model.Field]*fieldDecl{},
		backlinks:    map[string][]*fieldDecl{},
		relations:    map[relationEnds]*relationGroup{},
		broken:       map[brokenName]bool{},
		brokenOwners: map[string]bool{},
		brokenArms:   map[*model.Union]bool{},
		incomplete:   map[string]bool{},
		lost:         map[string]bool{},
		names:        map[string]*actionDecl{},
		results:      map[*model.Message]bool{},
		conditions:   map[conditionName]*conditionDecl{},
	}
}

// report notes an error.
func (c *checker) report(code syntax.Code, span syntax.Span, message string, notes ...syntax.Note) {
	c.errs.Add(code, span, message, notes...)
}

// warn notes a warning.
func (c *checker) warn(code syntax.Code, span syntax.Span, message string, notes ...syntax.Note) {
	*c.errs = append(*c.errs, &syntax.Diagnostic{Span: span, Code: code, Message: message, Notes: notes, Warning: true})
}

// note points to another place involved.
func note(span syntax.Span, message string) syntax.Note {
	return syntax.Note{Span: span, Message: message}
}

// breakField notes that a field was declared in error.
func (c *checker) breakField(owner, field string) {
	c.broken[brokenName{owner, field}] = true
	c.brokenOwners[owner] = true
}

// isBroken tells whether a field that does not exist may have been declared in
// error, or lost to a syntax error.
func (c *checker) isBroken(owner, field string) bool {
	return c.broken[brokenName{owner, field}] || c.broken[brokenName{owner, ""}]
}

// isIncomplete tells whether a part of a model or union did not parse, even only
// an expression.
func (c *checker) isIncomplete(owner string) bool {
	return c.incomplete[owner]
}

// model returns the model of that name, or nil.
func (c *checker) model(name string) *model.Model {
	if t := c.types[name]; t != nil {
		return t.model
	}
	return nil
}

// modelNames returns the names of all models, Identity first.
func (c *checker) modelNames() []string {
	names := []string{identityName}
	for _, m := range c.models {
		names = append(names, m.Name)
	}
	return names
}
