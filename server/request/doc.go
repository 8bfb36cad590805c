// Package request is the common part of all HTTP requests, independent of their path:
// body, client, id, response headers and the form of a refusal. A Policy holds their
// configuration.
//
// It knows no action and no path, and uses neither the database nor storage.
package request
