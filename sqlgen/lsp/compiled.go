package lsp

import (
	"crypto/sha256"
	"fmt"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// compilation is the last result of the compiler for a project.
type compilation struct {
	digest [sha256.Size]byte // of the files
	errs   syntax.Errors
	sound  *sqlgen.Compiled // of the last version that compiled; nil means none
	isNow  bool             // whether that is this version
}

// compile compiles the current project, unless it was compiled last.
func (s *server) compile(key string, p *sqlgen.Project) *compilation {
	digest := digestOf(p)
	s.mu.Lock()
	last := s.compilations[key]
	s.mu.Unlock()
	if last != nil && last.digest == digest {
		return last
	}
	compiled, errs := sqlgen.Compile(p)
	now := &compilation{digest: digest, errs: errs, sound: compiled, isNow: compiled != nil}
	if compiled == nil && last != nil {
		now.sound = last.sound
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compilations[key] = now
	return now
}

func digestOf(p *sqlgen.Project) (digest [sha256.Size]byte) {
	h := sha256.New()
	write := func(list ...*syntax.Source) {
		for _, f := range list {
			if f != nil {
				fmt.Fprintf(h, "%q %d\n%s", f.Name, len(f.Text), f.Text)
			}
		}
	}
	write(p.Config)
	write(p.Files...)
	write(p.Functions...)
	copy(digest[:], h.Sum(nil))
	return digest
}
