// Package config reads the configuration of a server from sternpost.yaml and the
// environment. The result is a Config with checked values. One table, in setting.go, has
// a row for each setting. Problems name their line or variable, and all of them are
// listed.
//
// It opens only its own files: no addresses, and no database.
package config
