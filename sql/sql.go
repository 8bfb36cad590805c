// Package sql is the hand-written half of every Sternpost database: the schema platform,
// as numbered migrations and replaceable functions, and their installation.
//
// It does not know a user's schema. The compiler's output builds on this platform.
// integration/guide/reference/database.md describes the layout, the roles and the error
// codes.
package sql

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/jackc/tern/v2/migrate"
)

//go:embed migrations/*.sql functions/*.sql
var files embed.FS

// Migrations returns the numbered migrations, in the form that tern reads.
func Migrations() fs.FS {
	return sub("migrations")
}

// Functions returns the replaceable functions, as a code package of tern: one file per
// function, and install.sql, which includes them.
func Functions() fs.FS {
	return sub("functions")
}

// Version returns the number of migrations, which is the version of this build's
// platform.
func Version() int {
	return len(migrationNames())
}

// Hash identifies the text of the functions. It changes when one of them does.
func Hash() string {
	sum := sha256.Sum256([]byte(functionsSQL()))
	return hex.EncodeToString(sum[:])
}

// Script returns the whole platform as one SQL text for an empty database, to run in one
// transaction. It has the same result as Migrate, so that Migrate can continue from
// there. Equal builds return equal texts.
func Script() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "-- The Sternpost platform, version %d.\n\n", Version())
	b.WriteString("create schema platform;\n\n")
	b.WriteString("-- Tern's version table: which of the platform's migrations have been applied.\n")
	b.WriteString("create table platform.schema_version (version int4 not null);\n")
	fmt.Fprintf(&b, "insert into platform.schema_version (version) values (%d);\n\n", Version())
	b.WriteString("set client_min_messages = warning; -- a migration drops functions that an empty database never had\n\n")
	for _, name := range migrationNames() {
		fmt.Fprintf(&b, "-- %s\n\n", name)
		b.Write(readEmbedded("migrations/" + name))
		b.WriteString("\n")
	}
	b.WriteString("reset client_min_messages;\n\n")
	b.WriteString(functionsSQL())
	b.WriteString("\n")
	b.WriteString(setHashSQL())
	return b.String()
}

// functionsSQL returns the text that installs or replaces all functions.
func functionsSQL() string {
	code, err := migrate.LoadCodePackage(Functions())
	if err != nil {
		panic(fmt.Sprintf("embedded functions: %v", err))
	}
	text, err := code.Eval(nil)
	if err != nil {
		panic(fmt.Sprintf("embedded functions: %v", err))
	}
	return text
}

// setHashSQL records the functions' hash, which has only hexadecimal digits.
func setHashSQL() string {
	return "insert into platform.function_version (hash) values ('" + Hash() + "')\n" +
		"on conflict ((true)) do update set hash = excluded.hash;\n"
}

func migrationNames() []string {
	names, err := migrate.FindMigrations(Migrations())
	if err != nil {
		panic(fmt.Sprintf("embedded migrations: %v", err))
	}
	return names
}

func sub(dir string) fs.FS {
	fsys, err := fs.Sub(files, dir)
	if err != nil {
		panic(fmt.Sprintf("embedded %s: %v", dir, err))
	}
	return fsys
}

func readEmbedded(path string) []byte {
	text, err := files.ReadFile(path)
	if err != nil {
		panic(fmt.Sprintf("embedded %s: %v", path, err))
	}
	return text
}
