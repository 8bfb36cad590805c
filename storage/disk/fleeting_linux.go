package disk

import "syscall"

// fleeting are the file systems that do not survive a restart of the machine, by their type in statfs.
var fleeting = map[uint32]string{
	0x794c7630: "in the layer of a container, which ends with the container: mount a volume there",
	0x01021994: "in memory: choose a folder on a disk",
	0x858458f6: "in memory: choose a folder on a disk",
}

// Fleeting returns why stored objects would not last, with advice; "" if no reason is
// known.
func (s *Store) Fleeting() string {
	var found syscall.Statfs_t
	if err := syscall.Statfs(s.Directory, &found); err != nil {
		return ""
	}
	return fleeting[uint32(found.Type)]
}
