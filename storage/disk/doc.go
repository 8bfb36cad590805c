// Package disk keeps objects in a folder of a disk, for production on one machine. It has
// no server of its own: the server answers at the addresses that a Store signs, takes
// uploads there and gives files out.
//
// An object is one file, which is written under a name that no key has, flushed to the
// disk and then renamed. So it appears and changes as a whole, even if something fails meanwhile.
package disk
