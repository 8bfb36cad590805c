// Package openapi describes the APIs of a release in OpenAPI 3.1: it turns a manifest
// into the bytes of a document. It contains the same schemas that requests are checked
// against.
package openapi
