// Package call lowers actions to functions: how a call begins and ends, get, create, update, delete and custom code.
package call
