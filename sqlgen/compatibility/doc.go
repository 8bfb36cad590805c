// Package compatibility compares two versions of a project as clients and callers see
// them.
//
// Its input is two releases: the checked schema and its published part, the manifest
// with the JSON Schemas of requests and answers. Its output is a list of changes, each
// breaking, compatible or widening, with the reason. The published part is compared by
// structure, not by its text; permissions are compared by the matrix of package
// access.
//
// The effects of an action's inputs are not compared: the values of @set, the bodies of
// custom code, and what deleting a row deletes or empties elsewhere.
package compatibility
