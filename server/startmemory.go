package server

import "runtime/debug"

// leaveStart gives back to the system, once, what only the start has needed: the release as it was read. The pages of
// the program are left to the kernel, which can take them at any time.
func (s *Server) leaveStart() { s.left.Do(debug.FreeOSMemory) }
