// Package files takes, keeps and gives out the files of an application: what is announced
// and uploaded ahead of a call, what an input holds, the addresses in a result, and the end
// of all that nobody holds. Contents go to a storage.Store, everything else about them is
// in the database, whose functions this package calls.
//
// It does not decide who may send a file.
package files
