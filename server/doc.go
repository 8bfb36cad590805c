// Package server is the HTTP side of a Sternpost application: a request comes in,
// one function of the database is called, and the JSON that it returns goes out.
//
// The server holds no schema. What it serves is the newest release installed in
// the database, and it switches when a newer one is installed. It decides nothing
// about rows: permissions, rules and results are the database's.
//
// This folder is the path of a request, in the order in which it is gone: server.go starts
// and stops, routes.go finds the route, receive.go is around every request, call.go goes
// through the stages of a call, prepare.go makes of an input what the database holds,
// database.go makes the call. release.go and follow.go keep what is served, health.go says
// in which state it is. Everything else has a room of its own below; ARCHITECTURE.md says which.
package server
