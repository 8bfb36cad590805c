// Package request is what one HTTP request is to all who answer it, whatever its path: its
// body, its client, its id, the headers of its answer and the form of a refusal. A Policy
// holds what the configuration says about all of them.
//
// It knows no action and no path, and asks nobody: neither the database nor storage.
package request
