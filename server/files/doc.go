// Package files receives, keeps and serves the files of an application: uploads before a
// call, files in an input, the addresses in a result, and the deletion of unused files.
// Contents go to a storage.Store. Everything else about files is in the database, and this
// package calls its functions.
//
// It does not decide who may send a file.
package files
