package server

import "runtime/debug"

// leaveStart gives back to the system, once, what only the start has needed: the release as it was read, and the
// parts of the program that have run to load it.
func (s *Server) leaveStart() {
	s.left.Do(func() {
		debug.FreeOSMemory()
		if err := releaseProgram(); err != nil {
			s.log.Debug("the parts of the program that the start has run stay in memory", "error", err)
		}
	})
}
