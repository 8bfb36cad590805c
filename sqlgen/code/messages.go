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

// otherStatement says what to do instead of a statement, by its first words.
func otherStatement(first, second string) string {
	const only = "custom code makes functions in schema functions, and nothing else: "
	switch first + " " + second {
	case "create procedure":
		return holdsFunctionsOnly("a procedure")
	case "create type", "create domain":
		return holdsFunctionsOnly("a type")
	case "create table", "create view", "create sequence", "create materialized", "create temp", "create temporary", "create unlogged":
		return only + "tables, views and sequences come from the models"
	case "create trigger", "create rule", "create policy", "create index", "create unique", "alter table", "alter index", "alter policy":
		return only + "tables, with their rules and indexes, come from the schema"
	}
	switch first {
	case "create":
		return only + "write a function"
	case "drop":
		return only + "tables, with their rules and indexes, come from the schema"
	case "grant", "revoke", "alter":
		return only + "rights come from the schema, and the actions may execute every function of the project"
	case "begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release", "prepare":
		return only + "all files are installed in one transaction, and a file cannot end it"
	case "set", "reset":
		return only + "write a set clause in the function"
	case "select", "insert", "update", "delete", "merge", "copy", "truncate", "with", "values", "table":
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
