// Package server is the HTTP side of a Sternpost application: a request comes in,
// one function of the database is called, and the JSON that it returns goes out.
//
// The server holds no schema. What it serves is the newest release installed in
// the database, and it switches when a newer one is installed. It decides nothing
// about rows: permissions, rules and results are the database's.
//
// A request passes these stages, and each may refuse it: routes.go finds the route,
// call.go goes through the rest in order, errors.go alone knows how a refusal looks.
package server
