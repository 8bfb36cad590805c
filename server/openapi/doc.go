// Package openapi describes the APIs of a release in OpenAPI 3.1: a manifest goes in, the
// bytes of a document come out. The schemas in it are the very ones that requests are
// checked by.
package openapi
