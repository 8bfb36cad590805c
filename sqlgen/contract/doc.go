// Package contract compares two versions of a project as clients and callers see
// them.
//
// In come two releases: the checked schema and what is published of it, the
// manifest with the JSON Schemas of requests and answers. Out comes a list of
// changes, each breaking, compatible or widening, with the reason. What is
// published is compared by structure, not by its text; who may call what is
// compared by the matrix of package access.
//
// What an action does with its inputs is not compared: the values of @set, the
// bodies of custom code, what deleting a row deletes or empties elsewhere.
package contract
