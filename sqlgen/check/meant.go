package check

import "strings"

// Words of other languages, and their names in this one.

// typesMeant has the types of other languages, in small letters.
var typesMeant = map[string]string{
	"string": "Text", "str": "Text", "varchar": "Text", "char": "Text", "citext": "Text", "email": "Text", "url": "Text", "phone": "Text",
	"int": "Number", "integer": "Number", "bigint": "Number", "smallint": "Number", "long": "Number", "int32": "Number", "int64": "Number",
	"float": "Decimal", "double": "Decimal", "numeric": "Decimal", "money": "Decimal", "real": "Decimal", "bigdecimal": "Decimal", "currency": "Decimal",
	"bool":     "Boolean",
	"datetime": "Timestamp", "timestamptz": "Timestamp", "instant": "Timestamp", "time": "Timestamp",
	"interval": "Duration", "timespan": "Duration",
	"uuid": "ID", "guid": "ID", "serial": "ID",
	"blob": "File", "binary": "File", "bytes": "File", "bytea": "File", "image": "File", "attachment": "File",
	"user": "Identity", "account": "Identity",
	"embedding": "Vector",
}

// structuresMeant are types of values with parts, which a column does not have here.
var structuresMeant = map[string]string{"json": "a model", "jsonb": "a model", "object": "a model", "map": "a model", "hstore": "a model", "dict": "a model"}

// attributesMeant has the attributes of other languages, in small letters, with what to write instead.
var attributesMeant = map[string]string{
	"check": "write @validate(condition, message: \"…\")", "constraint": "write @validate(condition, message: \"…\")", "assert": "write @validate(condition, message: \"…\")",
	"required": "a field is required unless ? follows its type", "notnull": "a field is required unless ? follows its type",
	"optional": "write ? behind the type", "nullable": "write ? behind the type", "null": "write ? behind the type",
	"id": "each model has an id", "primarykey": "each model has an id", "key": "each model has an id",
	"createdat": "each model has createdAt and updatedAt", "updatedat": "each model has createdAt and updatedAt",
	"filter": "write @where(condition)", "if": "write @where(condition)",
	"order": "write @orderBy(field: asc)", "sort": "write @sortable(field) or @orderBy(field: asc)",
	"auth": "write @permission", "access": "write @permission", "policy": "write @permission", "rule": "write @permission",
	"references": "write @relation(field)", "foreignkey": "write @relation(field)",
	"min": "write @validate(condition, message: \"…\") on the model", "max": "write @validate(condition, message: \"…\") on the model",
	"range": "write @validate(condition, message: \"…\") on the model",
}

// meantBy returns the name here for an unknown name, "" if there is none.
func meantBy(meant map[string]string, name string) string {
	return meant[strings.ToLower(name)]
}
