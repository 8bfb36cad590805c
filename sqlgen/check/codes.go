package check

import "github.com/sternpost/sternpost/sqlgen/syntax"

// The codes that this package reports, each with a project that it is reported
// for. FunctionFileMissing apart, there is a file for the code of action code.
// What expressions can get wrong has its codes in package expr.

// Project and names.
const (
	// NoSchema: there is no schema file in the project.
	NoSchema syntax.Code = "NoSchema"

	// BadConfig: a key of sternpost.yaml that the compiler reads has another shape, or
	// a name in it breaks its rule. The command check also gives it for unknown keys and
	// for values that a server refuses.
	//
	//	environment:
	//	  - name: lower_case
	BadConfig syntax.Code = "BadConfig"

	// ReservedName: a name would collide with one that Sternpost uses itself.
	//
	//	model Ctx { }
	ReservedName syntax.Code = "ReservedName"

	// NameTooLong: a name is too long for the database.
	//
	//	model AModelWhoseNameIsSoVeryLongThatNoTableCouldBeCalledByItsName { }
	NameTooLong syntax.Code = "NameTooLong"

	// DuplicateType: two models, unions, enums or messages have one name.
	//
	//	model Order { }
	//	enum Order { Open }
	DuplicateType syntax.Code = "DuplicateType"

	// DuplicateAction: two actions of the schema have one name.
	//
	//	model Order { actions { get order1(id)  get order1(id) } }
	DuplicateAction syntax.Code = "DuplicateAction"

	// DuplicateRole: two roles have one name.
	//
	//	role Staff { }
	//	role Staff { }
	DuplicateRole syntax.Code = "DuplicateRole"

	// DuplicateField: two fields, or a field and a condition, of one declaration have one name.
	//
	//	message Note { text Text  text Text }
	DuplicateField syntax.Code = "DuplicateField"

	// DuplicateArm: two arms of a union have one name.
	//
	//	model Order { }
	//	union Event { arms { order Order  order Order } }
	DuplicateArm syntax.Code = "DuplicateArm"

	// DuplicateEnumValue: two values of an enum have one name.
	//
	//	enum State { Open Open }
	DuplicateEnumValue syntax.Code = "DuplicateEnumValue"

	// NameClash: two names become one in the database, or in a path of the server.
	//
	//	model Order { fields { itemID Text  itemId Text } }
	NameClash syntax.Code = "NameClash"
)

// Types.
const (
	// UnknownType: there is no type of that name.
	//
	//	model Order { fields { number Txt } }
	UnknownType syntax.Code = "UnknownType"

	// TypeNotAllowed: the type cannot be used there.
	//
	//	model Order { fields { number Any } }
	TypeNotAllowed syntax.Code = "TypeNotAllowed"

	// ArrayNotAllowed: there are no arrays of that type.
	//
	//	model Order { fields { keys Secret[] } }
	ArrayNotAllowed syntax.Code = "ArrayNotAllowed"

	// EmptyEnum: an enum has no values.
	//
	//	enum State { }
	EmptyEnum syntax.Code = "EmptyEnum"

	// MessageCycle: required fields, none of them an array, lead from a message back
	// to itself.
	//
	//	message Tree { left Tree  right Tree? }
	MessageCycle syntax.Code = "MessageCycle"
)

// Relations.
const (
	// AmbiguousRelation: several fields could lead back from a relation.
	//
	//	model Person { fields { reviews Review[] } }
	//	model Review { fields { author Person  editor Person? } }
	AmbiguousRelation syntax.Code = "AmbiguousRelation"

	// MissingToOne: a to-many has no to-one that leads back.
	//
	//	model Person { fields { reviews Review[] } }
	//	model Review { }
	MissingToOne syntax.Code = "MissingToOne"

	// OptionalToMany: a to-many is declared optional.
	//
	//	model Person { fields { reviews Review[]? } }
	//	model Review { fields { author Person } }
	OptionalToMany syntax.Code = "OptionalToMany"

	// RequiredSelfReference: a to-one to its own model is required.
	//
	//	model Part { fields { parent Part } }
	RequiredSelfReference syntax.Code = "RequiredSelfReference"

	// BadRelation: a @relation names no field that can lead back, or is where it
	// has no meaning.
	//
	//	model Person { fields { reviews Review[] } }
	//	model Review { fields { author Person @relation(essays) } }
	BadRelation syntax.Code = "BadRelation"
)

// Attributes.
const (
	// UnknownAttribute: there is no attribute of that name.
	//
	//	model Order { fields { number Text @uniqe } }
	UnknownAttribute syntax.Code = "UnknownAttribute"

	// MisplacedAttribute: the attribute cannot be there.
	//
	//	model Order { fields { number Text @maxSize("1 MB") } }
	MisplacedAttribute syntax.Code = "MisplacedAttribute"

	// RepeatedAttribute: the attribute can be there only once.
	//
	//	model Order { fields { number Text @unique @unique } }
	RepeatedAttribute syntax.Code = "RepeatedAttribute"

	// AttributeArguments: arguments are missing, surplus, mislabelled or misshapen.
	//
	//	model Order { fields { number Text @unique(true) } }
	AttributeArguments syntax.Code = "AttributeArguments"

	// BadFieldList: a list of fields holds something else than bare names of own
	// fields, or one twice.
	//
	//	model Order { fields { number Text }  @unique([number, number]) }
	BadFieldList syntax.Code = "BadFieldList"

	// UniqueNotAllowed: a field that has no index of its own cannot be unique.
	//
	//	model Order { fields { tags Text[] @unique } }
	UniqueNotAllowed syntax.Code = "UniqueNotAllowed"

	// IndexNotAllowed: a field cannot be indexed.
	//
	//	model Order { fields { scan File @index } }
	IndexNotAllowed syntax.Code = "IndexNotAllowed"

	// DefaultNeedsValue: an enum has no default of its own.
	//
	//	model Order { fields { state State @default } }
	//	enum State { Open }
	DefaultNeedsValue syntax.Code = "DefaultNeedsValue"

	// DefaultNotAllowed: fields of that type have no default.
	//
	//	model Order { fields { key Secret @default("x") } }
	DefaultNotAllowed syntax.Code = "DefaultNotAllowed"

	// OnDeleteMisplaced: @onDelete is on a relation without the foreign key.
	//
	//	model Person { fields { reviews Review[] @onDelete(cascade) } }
	//	model Review { fields { author Person } }
	OnDeleteMisplaced syntax.Code = "OnDeleteMisplaced"

	// OnDeleteNeedsOptional: a required field cannot be set to null.
	//
	//	model Person { }
	//	model Review { fields { author Person @onDelete(setNull) } }
	OnDeleteNeedsOptional syntax.Code = "OnDeleteNeedsOptional"

	// BadRename: the former name still exists, or two declarations claim it.
	//
	//	model Order { fields { number Text  code Text @renamed(from: number) } }
	BadRename syntax.Code = "BadRename"

	// BadPattern: a pattern of @accepts is not a content type.
	//
	//	model Order { fields { scan File @accepts(["*/*"]) } }
	BadPattern syntax.Code = "BadPattern"

	// BadSize: a @maxSize is not a size, or out of range.
	//
	//	model Order { fields { scan File @maxSize("1 TB") } }
	BadSize syntax.Code = "BadSize"

	// BadLimit: a limit of texts is on something else than Text and Markdown, or a limit of
	// elements on something else than an array; its number is not a positive integer; no
	// value can satisfy all; a @default or @set goes beyond it.
	//
	//	model Order { fields { number Text @maxLength(3) @default("none") } }
	BadLimit syntax.Code = "BadLimit"

	// BadTextPattern: a @pattern is not a regular expression of the language, or has too
	// many states.
	//
	//	model Order { fields { number Text @pattern("^[A-Z]+$") } }
	BadTextPattern syntax.Code = "BadTextPattern"

	// HiddenInput: a list would be filtered or ordered by a hidden field, or a record or
	// union would show it.
	//
	//	model Order { fields { note Text @hidden }  actions { list listOrders(note?) } }
	HiddenInput syntax.Code = "HiddenInput"
)

// Actions.
const (
	// UnknownActionKind: the kind of an action is unknown.
	//
	//	model Order { actions { fetch getOrder(id) } }
	UnknownActionKind syntax.Code = "UnknownActionKind"

	// BadReturns: a read or write does not return exactly one message or Any, or
	// another kind has returns.
	//
	//	model Order { actions { read code() } }
	BadReturns syntax.Code = "BadReturns"

	// WithNotAllowed: an action other than create and update has with.
	//
	//	model Order { fields { number Text }  actions { delete dropOrder(id) with (number) } }
	WithNotAllowed syntax.Code = "WithNotAllowed"

	// ReadInputOnCreate: a create has inputs before with.
	//
	//	model Order { fields { number Text }  actions { create makeOrder(number) } }
	ReadInputOnCreate syntax.Code = "ReadInputOnCreate"

	// InputIsRelation: an input ends in a relation.
	//
	//	model Order { actions { get getOrder(customer) }  fields { customer Customer } }
	//	model Customer { }
	InputIsRelation syntax.Code = "InputIsRelation"

	// LabelOnPath: a label or [] is on a path of fields.
	//
	//	model Order { actions { get getOrder(key: id) } }
	LabelOnPath syntax.Code = "LabelOnPath"

	// UnlabelledType: an input with a type of its own has no label.
	//
	//	model Order { actions { list listOrders(Text) } }
	UnlabelledType syntax.Code = "UnlabelledType"

	// InputType: an explicit input has a type that none can have.
	//
	//	model Order { actions { get getOrder(id, key: Password) { @where(key == "x") } } }
	InputType syntax.Code = "InputType"

	// NotFilterable: rows cannot be found by a field of that type.
	//
	//	model Order { fields { scan File }  actions { list listOrders(scan) } }
	NotFilterable syntax.Code = "NotFilterable"

	// MessageInput: a message or Any is the input of a kind other than read and write,
	// or not alone.
	//
	//	model Order { actions { list listOrders(Any) } }
	MessageInput syntax.Code = "MessageInput"

	// UnusedInput: nothing mentions an explicit input.
	//
	//	model Order { actions { list listOrders(since: Date) } }
	UnusedInput syntax.Code = "UnusedInput"

	// DuplicateInput: two inputs of one list have one name, or would be the same member of
	// a request.
	//
	//	model Order { actions { get getOrder(id, id) } }
	DuplicateInput syntax.Code = "DuplicateInput"

	// BuiltInTimestamp: createdAt or updatedAt is written.
	//
	//	model Order { actions { update touchOrder(id) with (updatedAt) } }
	BuiltInTimestamp syntax.Code = "BuiltInTimestamp"

	// ComputedInput: a computed field, or one with a sequence, is an input of create or update, or a
	// target of @set; or an update changes the to-one that numbers count per.
	//
	//	model Order {
	//	  fields { size Number  double Number @computed(order.size * 2) }
	//	  actions { update resizeOrder(id) with (double) }
	//	}
	ComputedInput syntax.Code = "ComputedInput"

	// BadSequence: a field with @sequence is not a required Text, or has attributes beside it; the prefix
	// has white space, the first number is not a whole number from 0 on, or per is not a required to-one
	// of the model.
	//
	//	model Order { fields { number Text @sequence("ORD 7") } }
	BadSequence syntax.Code = "BadSequence"

	// ComputedCycle: a computed field depends on itself.
	//
	//	model Order { fields { left Number @computed(order.right)  right Number @computed(order.left) } }
	ComputedCycle syntax.Code = "ComputedCycle"

	// ConditionCycle: a condition names itself, by whatever way.
	//
	//	model Order { fields { rush Boolean }  conditions { a = order.rush && order.b  b = !order.a } }
	ConditionCycle syntax.Code = "ConditionCycle"

	// NotPinned: a get, update or delete does not say which row it is for.
	//
	//	model Order { fields { number Text }  actions { get getOrder(number) } }
	NotPinned syntax.Code = "NotPinned"

	// UncoveredField: a new row gets no value in a required field.
	//
	//	model Order { fields { number Text }  actions { create makeOrder() } }
	UncoveredField syntax.Code = "UncoveredField"

	// BadLink: a create names the id of a row that it cannot link.
	//
	//	model Order { fields { items Item[] }  actions { create makeOrder() with (items.id) } }
	//	model Item { fields { order Order } }
	BadLink syntax.Code = "BadLink"

	// IdentityNotCreatable: inputs would make a new Identity.
	//
	//	model Order { fields { owner Identity }  actions { create makeOrder() with (owner.email) } }
	IdentityNotCreatable syntax.Code = "IdentityNotCreatable"

	// UpdateBelowRelation: an update writes a value of another row.
	//
	//	model Order { fields { owner Identity }  actions { update giveOrder(id) with (owner.email) } }
	UpdateBelowRelation syntax.Code = "UpdateBelowRelation"

	// NothingToWrite: an update has neither values nor @set.
	//
	//	model Order { actions { update touchOrder(id) } }
	NothingToWrite syntax.Code = "NothingToWrite"

	// SetTarget: the target of a @set cannot be set.
	//
	//	model Order { fields { number Text }  actions { update nameOrder(id) { @set(number = "1") } } }
	SetTarget syntax.Code = "SetTarget"

	// SetConflict: a field is set twice, or set and given by an input.
	//
	//	model Order {
	//	  fields { number Text }
	//	  actions { update nameOrder(id) with (number) { @set(order.number = "1") } }
	//	}
	SetConflict syntax.Code = "SetConflict"

	// SetReadsNewRow: on create, a value reads the row that is being made.
	//
	//	model Order {
	//	  fields { number Text  name Text }
	//	  actions { create makeOrder() with (number) { @set(order.name = order.number) } }
	//	}
	SetReadsNewRow syntax.Code = "SetReadsNewRow"

	// NothingToAllow: an @allow names a warning that its action does not have.
	//
	//	model Order { actions { get getOrder(id) { @allow(LinkWidens) @permission(expression: true) } } }
	NothingToAllow syntax.Code = "NothingToAllow"

	// OrderNotAllowed: no list can be ordered by that field.
	//
	//	model Order { fields { tags Text[] }  actions { list listOrders() { @orderBy(tags: asc) } } }
	OrderNotAllowed syntax.Code = "OrderNotAllowed"

	// FacetNotAllowed: a list does not count the values of that field.
	//
	//	model Order { fields { tags Text[] }  actions { list listOrders() { @facet(tags) } } }
	FacetNotAllowed syntax.Code = "FacetNotAllowed"

	// BadEmbed: an @embed names something other than a relation, or a path twice.
	//
	//	model Order { fields { number Text }  actions { get getOrder(id) { @embed(number) } } }
	BadEmbed syntax.Code = "BadEmbed"

	// BadSelect: a @select names what no record can show, or a field twice, or is beside an
	// @embed or @function.
	//
	//	model Order { fields { number Text }  actions { get getOrder(id) { @select(nunber) } } }
	BadSelect syntax.Code = "BadSelect"
)

// Rules and custom code.
const (
	// EmptyRule: a rule has neither expression nor roles.
	//
	//	model Order { @permission(actions: [get]) }
	EmptyRule syntax.Code = "EmptyRule"

	// RuleActions: the rule of a model or union does not list kinds of actions, or
	// that of an action does.
	//
	//	model Order { @permission(expression: true) }
	RuleActions syntax.Code = "RuleActions"

	// UnknownRole: roles is not a list of declared roles.
	//
	//	model Order { @permission(roles: [Staff], actions: [get]) }
	UnknownRole syntax.Code = "UnknownRole"

	// BadRoleMember: a member of a role is not an e-mail address, or not a domain.
	//
	//	role Staff { emails { "nobody" } }
	BadRoleMember syntax.Code = "BadRoleMember"

	// RoleExpression: the expression of a role names something else than ctx and
	// literals.
	//
	//	role Staff { expression { person.isStaff } }
	RoleExpression syntax.Code = "RoleExpression"

	// UnknownSubscriber: an @on names what neither code nor a webhook can be called.
	//
	//	model Order { @on([create], Greet) }
	UnknownSubscriber syntax.Code = "UnknownSubscriber"

	// TwoSubscribers: a subscriber has both code and an address in the configuration.
	//
	//	subscribers:
	//	  code: {url: "https://example.com/hook"}
	TwoSubscribers syntax.Code = "TwoSubscribers"

	// BadEvent: an @on says of no writes, has fields without update or without column, or a
	// condition that reads more than the row.
	//
	//	model Order {
	//	  fields { open Boolean }
	//	  @on([create], code, fields: [open])
	//	}
	BadEvent syntax.Code = "BadEvent"

	// HistoryAction: an action of kind history reads a model without @history, or has other inputs than id; or a union
	// has @history.
	//
	//	model Order { actions { history orderHistory(id) { @permission(expression: true) } } }
	HistoryAction syntax.Code = "HistoryAction"

	// BadInvitation: a create with @invitation does not take one e-mail address, or does not leave one optional to-one to
	// Identity empty.
	//
	//	model Member {
	//	  fields { identity Identity? }
	//	  actions { create inviteMember() { @invitation  @permission(expression: true) } }
	//	}
	BadInvitation syntax.Code = "BadInvitation"

	// BadSchedule: a @schedule is neither cron nor a spoken form, has no time zone of the IANA, or never comes.
	//
	//	job Code { @schedule("0 0 30 2 *") }
	BadSchedule syntax.Code = "BadSchedule"

	// JobNeverRuns: a job has no schedule, and nobody may start it.
	//
	//	job Code { inputs { month Date? } }
	JobNeverRuns syntax.Code = "JobNeverRuns"

	// JobInput: an input of a job cannot be kept with its runs, or a schedule cannot give it.
	//
	//	job Code { inputs { token Secret } @permission(expression: true) }
	JobInput syntax.Code = "JobInput"

	// NotLive: @live is on what neither gets, lists nor reads, or on custom code without of.
	//
	//	model Order { fields { number Text }  actions { create createOrder() with (number) { @live @permission(expression: true) } } }
	NotLive syntax.Code = "NotLive"
	// BadMany: @many is on another kind than create, update and delete, or on an action whose rows cannot be written
	// together.
	//
	//	model Order { actions { get getOrder(id) { @many @permission(expression: true) } } }
	BadMany syntax.Code = "BadMany"

	// UnknownJob: a rule names code that is neither a job nor a subscriber of an @on.
	//
	//	model Order { @permission(expression: true, jobs: [greet]) }
	UnknownJob syntax.Code = "UnknownJob"

	// FunctionFileMissing: the file with the code of an action is missing.
	//
	//	model Order { actions { read orderFigures() returns (Any) } }
	FunctionFileMissing syntax.Code = "FunctionFileMissing"

	// FunctionAttribute: an action with custom code has @set, @where or @facet.
	//
	//	model Order { actions { get code(id) { @function @where(order.id != "") } } }
	FunctionAttribute syntax.Code = "FunctionAttribute"

	// RowRuleWithoutRow: a rule mentions the row of a delete whose code alone knows
	// which row that is.
	//
	//	model Order {
	//	  fields { open Boolean }
	//	  actions { delete code() { @function @permission(expression: order.open) } }
	//	}
	RowRuleWithoutRow syntax.Code = "RowRuleWithoutRow"
)

// Errors in the files of custom code, some of them found at the installation. Each example is a schema
// and the file functions/code.sql.
const (
	// FunctionSignature: when installed, the function of an action is missing, or its
	// parameters or result differ from those of the action.
	//
	//	model Order { actions { read code(day: Date) returns (Any) { @permission(expression: true) } } }
	//	-- functions/code.sql --
	//	create function functions.code(day text) returns jsonb language sql stable as 'select null::jsonb';
	FunctionSignature syntax.Code = "FunctionSignature"

	// FunctionStatement: a file does something else than make functions in schema
	// functions.
	//
	//	model Order { actions { read code() returns (Any) { @permission(expression: true) } } }
	//	-- functions/code.sql --
	//	delete from app.order;
	FunctionStatement syntax.Code = "FunctionStatement"

	// FunctionSetting: custom code sets what is the platform's, sternpost.…, or a setting
	// whose name cannot be seen.
	//
	//	model Order { actions { read code() returns (Any) { @permission(expression: true) } } }
	//	-- functions/code.sql --
	//	create function functions.code() returns jsonb language sql as 'select to_jsonb(set_config(''sternpost.action'', ''x'', true))';
	FunctionSetting syntax.Code = "FunctionSetting"

	// FunctionSearchPath: when installed, a function runs with the rights of its owner
	// and takes names from wherever its caller says.
	//
	//	model Order { actions { read code() returns (Any) { @permission(expression: true) } } }
	//	-- functions/code.sql --
	//	create function functions.code() returns jsonb language sql stable security definer as 'select null::jsonb';
	FunctionSearchPath syntax.Code = "FunctionSearchPath"
)

// Unions and apis.
const (
	// NoArms: a union has no arm.
	//
	//	union Event { fields { title Text } }
	NoArms syntax.Code = "NoArms"

	// UnionFieldType: a union cannot have a field of that type.
	//
	//	model Order { }
	//	union Event { fields { order Order? }  arms { order Order } }
	UnionFieldType syntax.Code = "UnionFieldType"

	// UnionActionKind: a union cannot have an action of that kind.
	//
	//	model Order { }
	//	union Event { arms { order Order }  actions { delete dropEvent(id) } }
	UnionActionKind syntax.Code = "UnionActionKind"

	// UnknownModel: an arm or api names no model.
	//
	//	union Event { arms { order Order } }
	UnknownModel syntax.Code = "UnknownModel"

	// UnknownAction: an api names an action that is not the model's.
	//
	//	model Order { actions { get getOrder(id) } }
	//	api Shop { models { Order { actions { dropOrder } } } }
	UnknownAction syntax.Code = "UnknownAction"

	// DuplicateApiModel: an api names a model twice.
	//
	//	model Order { }
	//	api Shop { models { Order Order } }
	DuplicateApiModel syntax.Code = "DuplicateApiModel"
)

// Warnings.
const (
	// RequiredVirtualSide: the side of a one-to-one without the foreign key is
	// declared required and read as optional.
	//
	//	model Order { fields { invoice Invoice } }
	//	model Invoice { fields { order Order @unique } }
	RequiredVirtualSide syntax.Code = "RequiredVirtualSide"

	// IndependentToOnes: two to-ones look like a one-to-one and are none.
	//
	//	model Order { fields { invoice Invoice? } }
	//	model Invoice { fields { order Order? } }
	IndependentToOnes syntax.Code = "IndependentToOnes"

	// RedundantIndex: the columns of an @index already lead another index, a declared one or that of
	// the order of a list.
	//
	//	model Order { fields { number Text @unique @index } }
	RedundantIndex syntax.Code = "RedundantIndex"

	// CascadeDeletes: a delete removes rows of another model, through a required to-one without
	// @onDelete.
	//
	//	model Order {
	//	  fields { items Item[] }
	//	  actions { delete dropOrder(id) { @permission(expression: true) } }
	//	}
	//	model Item { fields { order Order } }
	CascadeDeletes syntax.Code = "CascadeDeletes"

	// ComputedBothWays: computed fields of two models read each other's rows, so that calls that
	// write both can deadlock, and are repeated then.
	//
	//	model Order { fields { number Text  items Item[]  size Number @computed(COUNT(order.items)) } }
	//	model Item { fields { order Order  number Text @computed(item.order.number) } }
	ComputedBothWays syntax.Code = "ComputedBothWays"

	// MissingIndex: a list has to be filtered by fields behind which no index has its
	// order, or may be filtered by a field with which no index begins.
	//
	//	model Order { fields { state Text  day Date } actions { list orders(state) { @orderBy(day: asc) @permission(expression: true) } } }
	MissingIndex syntax.Code = "MissingIndex"

	// SlowRule: the rules of a list follow a path from the row to what they compare with
	// the caller. With a copy of the value in the row, an index would lead to the rows.
	//
	//	model Payment {
	//	  fields { invoice Invoice  day Date }
	//	  actions { list listPayments() { @orderBy(day: desc) } }
	//	  @permission(expression: payment.invoice.business == ctx.identity.business, actions: [list])
	//	}
	//	model Invoice { fields { business Business } }
	//	model Business { fields { owner Identity @unique } }
	SlowRule syntax.Code = "SlowRule"

	// NoRule: no rule covers an action, so every call is refused.
	//
	//	model Order { actions { get getOrder(id) } }
	NoRule syntax.Code = "NoRule"

	// FunctionUnguarded: custom code names what row security does not bind.
	//
	//	model Order { actions { read code() returns (Any) { @permission(expression: true) } } }
	//	-- functions/code.sql --
	//	create function functions.code() returns jsonb language sql stable as 'select to_jsonb(count(*)) from related.order';
	FunctionUnguarded syntax.Code = "FunctionUnguarded"

	// EmbedWidens: a record shows rows of a model whose own rules the action does not
	// ask.
	//
	//	model Order {
	//	  fields { customer Customer }
	//	  actions { get getOrder(id) { @embed(customer) @permission(expression: true) } }
	//	}
	//	model Customer { @permission(expression: ctx.isAuthenticated, actions: [get]) }
	EmbedWidens syntax.Code = "EmbedWidens"

	// FilterWidens: callers of an action can ask about rows of a model whose own rules
	// the action does not ask.
	//
	//	model Order {
	//	  fields { customer Customer }
	//	  actions { list listOrders(customer.name?) { @permission(expression: true) } }
	//	}
	//	model Customer {
	//	  fields { name Text }
	//	  @permission(expression: ctx.isAuthenticated, actions: [get])
	//	}
	FilterWidens syntax.Code = "FilterWidens"

	// ComputedWidens: a computed field of a record, or the value of a @set, is a copy of a
	// value in a row of a model whose own rules the action does not ask.
	//
	//	model Order {
	//	  fields {
	//	    customer Customer
	//	    customerName Text @computed(order.customer.name)
	//	  }
	//	  actions { get getOrder(id) { @permission(expression: true) } }
	//	}
	//	model Customer {
	//	  fields { name Text }
	//	  @permission(expression: ctx.isAuthenticated, actions: [get])
	//	}
	ComputedWidens syntax.Code = "ComputedWidens"

	// NestedWidens: a create inserts rows of a model whose own rules the action does
	// not ask.
	//
	//	model Order {
	//	  fields { customer Customer }
	//	  actions { create makeOrder() with (customer.name) { @permission(expression: true) } }
	//	}
	//	model Customer {
	//	  fields { name Text }
	//	  @permission(expression: ctx.isAuthenticated, actions: [create])
	//	}
	NestedWidens syntax.Code = "NestedWidens"

	// LinkWidens: an action links rows of a model whose own rules it does not apply.
	//
	//	model Order {
	//	  fields { customer Customer }
	//	  actions { create makeOrder() with (customer.id) { @permission(expression: true) } }
	//	}
	//	model Customer { @permission(expression: ctx.isAuthenticated, actions: [get]) }
	LinkWidens syntax.Code = "LinkWidens"

	// UnionWidens: a union shows rows, or values, of a model whose own rules it does not apply.
	//
	//	model Order { @permission(expression: ctx.isAuthenticated, actions: [get]) }
	//	union Event {
	//	  arms { order Order }
	//	  actions { list listEvents() }
	//	  @permission(expression: true, actions: [list])
	//	}
	UnionWidens syntax.Code = "UnionWidens"

	// HiddenCompared: an action compares a hidden field with an input or a header, so that
	// callers find out its value by trial.
	//
	//	model Order {
	//	  fields { cost Decimal @hidden }
	//	  actions {
	//	    list listOrders(most: Decimal) {
	//	      @where(order.cost <= most)
	//	      @permission(expression: true)
	//	    }
	//	  }
	//	}
	HiddenCompared syntax.Code = "HiddenCompared"

	// CursorWidens: the cursors of a list hold a field that it can be ordered by and that its
	// @select leaves out.
	//
	//	model Order {
	//	  fields { number Text  cost Decimal }
	//	  actions {
	//	    list listOrders() {
	//	      @select(number)
	//	      @orderBy(cost: asc)
	//	      @permission(expression: true)
	//	    }
	//	  }
	//	}
	CursorWidens syntax.Code = "CursorWidens"

	// UncheckedInline: an action stores a file in a field with @accepts or @maxSize, which
	// do not bind data URLs, since uploads.inline is free.
	//
	//	model Order {
	//	  fields { scan File? @accepts(["image/*"]) }
	//	  actions { update addScan(id) with (scan) { @permission(expression: true) } }
	//	}
	UncheckedInline syntax.Code = "UncheckedInline"

	// ProviderProvesAny: there are roles by e-mail address, and one of several providers names
	// no emailDomains, so that it can prove any address.
	//
	//	role Staff { domains { "staff.example" } }
	ProviderProvesAny syntax.Code = "ProviderProvesAny"

	// NothingExposed: no api exposes any action.
	//
	//	model Order { }
	NothingExposed syntax.Code = "NothingExposed"
)
