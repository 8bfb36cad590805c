// Package server is the HTTP side of a Sternpost application: a request comes in,
// one function of the database is called, and the JSON that it returns goes out.
//
// The server holds no schema. What it serves is the newest release installed in
// the database, and it switches when a newer one is installed. It decides nothing
// about rows: permissions, rules and results are the database's.
//
// The files of this folder follow the path of a request: server.go starts and stops, routes.go
// finds the route, receive.go wraps every request, call.go goes through the stages of a call,
// prepare.go turns an input into the form that the database holds, package database makes the call.
// release.go and releasewatch.go keep the served release, health.go reports the state. Everything else
// has a package of its own below; ARCHITECTURE.md lists them.
package server
