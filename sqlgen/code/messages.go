package code

import "strings"

func fileIsNotUTF8() string { return "the file is not UTF-8" }

func fileHoldsNull() string { return "the file holds the character U+0000" }

func noCommands() string {
	return "the file is SQL, which has no commands of psql: remove the backslash"
}

func isVariable(name string) string {
	return "psql reads :" + name + " as a variable: put a space after the colon"
}

func holdsFunctionsOnly(what string) string {
	return "schema functions can contain only functions, and this is " + what + ": write a function, or a model for rows"
}

func otherSchema(name []string) string {
	last := name[len(name)-1]
	return "custom code makes functions in schema functions only: call it functions." + last
}

func untrusted(language string) string {
	return "custom code is written in a trusted language, such as sql or plpgsql, and " + language + " is not one"
}

// otherStatement says what to do instead of a statement, by the node of the grammar.
func otherStatement(kind string) string {
	const only = "custom code makes functions in schema functions, and nothing else: "
	switch kind {
	case "CompositeTypeStmt", "CreateEnumStmt", "CreateRangeStmt", "CreateDomainStmt":
		return holdsFunctionsOnly("a type")
	case "CreateStmt", "CreateTableAsStmt", "ViewStmt", "CreateSeqStmt":
		return only + "tables, views and sequences come from the models"
	case "DefineStmt":
		return only + "write a function"
	case "CreateTrigStmt", "RuleStmt", "CreatePolicyStmt", "AlterTableStmt", "IndexStmt", "RenameStmt", "DropStmt":
		return only + "tables, with their rules and indexes, come from the schema"
	case "GrantStmt", "GrantRoleStmt", "AlterDefaultPrivilegesStmt", "AlterOwnerStmt":
		return only + "rights come from the schema, and the actions may execute every function of the project"
	case "TransactionStmt":
		return only + "all files are installed in one transaction, and a file cannot end it"
	case "VariableSetStmt":
		return only + "write a set clause in the function"
	case "SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CopyStmt", "TruncateStmt":
		return only + "write statements on rows in the function of an action"
	}
	return only + "remove the statement, or write it in a function"
}

func setsOurs(name string) string {
	return "the code sets " + strings.ToLower(name) + ", but the settings sternpost.… belong to the platform, and the rules read them: " +
		"use a setting of another name, or a parameter"
}

func setsAll() string {
	return "reset all removes the settings of the call, which the rules use: reset single settings by their names"
}

func setsUnknown() string {
	return "the name in set_config is an expression: write it as a text, so that Sternpost can see that it is not one of sternpost.…"
}

func updatesSettings() string {
	return "an update of pg_settings can change any setting: use set_config, with the name as a text"
}

func enters(function string) string {
	return function + " begins another call, and the statements after it would run with the rights of that call: share code as a function of schema functions"
}

func readsRelated() string {
	return "the views of schema related show all rows to every caller: read the tables of schema app"
}
