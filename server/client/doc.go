// Package client writes programs that call an API: it turns a manifest into the text of a
// TypeScript file. Its types are made of the same schemas that requests are checked against.
// The common part of all clients is in the folder runtime, as TypeScript that is checked
// separately.
package client
