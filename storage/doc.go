// Package storage says how file contents are kept: in objects under keys, behind
// one small interface. Package s3 keeps them in a bucket, package disk in a folder of
// one machine, and package local in one for development; package storagetest holds all
// to the same behaviour.
//
// It knows nothing of rows: which object belongs to which record, and when one may
// go, is the database's to say.
package storage
