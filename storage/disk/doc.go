// Package disk keeps objects in a folder of a disk, for production on one machine. It has no
// server of its own: the server handles the addresses that a Store signs, takes uploads there and
// serves files.
//
// An object is one file. It is written under a name that no key has, flushed to the disk and then
// renamed. So it appears and changes atomically, even if something fails meanwhile.
package disk
