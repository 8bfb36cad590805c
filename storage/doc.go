// Package storage defines the storage of file contents: objects under keys, behind one
// small interface. Package s3 keeps them in a bucket, package disk in a folder of one
// machine, and package local in a folder for development; package storagetest tests that
// all behave alike.
//
// It does not know rows: the database decides which object belongs to which record, and
// when it is deleted.
package storage
