// Package config reads the configuration of a server: sternpost.yaml and the environment
// go in, a Config comes out in which every value has been checked. One table, in
// setting.go, has a row for each setting; problems name the line or the variable they
// are in, and all of them are listed.
//
// It opens nothing: neither files but its own, nor addresses, nor the database.
package config
