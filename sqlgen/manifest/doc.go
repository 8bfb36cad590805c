// Package manifest says what clients are told of a schema's actions.
//
// In come a checked schema and what lower has said of the functions; out goes the whole
// manifest, from which servers answer requests, check inputs and write OpenAPI. Here are
// the JSON Schemas of requests, answers, filters and pages, and the names of those that
// no schema declares. How an action is called and what the database checks is decided in
// lower.
package manifest
