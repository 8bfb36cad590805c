package server

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/input"
)

// prepared is a call with an input in which everything is as the database holds it.
type prepared struct {
	input   []byte
	context []byte   // with the uploads that the call attaches, and what is made of texts
	keys    []string // of the files; to be discarded if the call fails
	bytes   int64    // that they have together
	payer   payer    // against whom they count then
}

// prepare stores the files of an input, hashes its passwords and encrypts its
// secrets, once it is certain that nothing but the row may refuse the call. Neither
// storage nor a hash is waited for within a transaction, so they come first; files
// go again if the call fails.
func (s *Server) prepare(c *fiber.Ctx, a *action, r *served, who *caller, in input.Input, context []byte) (*prepared, error) {
	files := filesOf(a, in)
	in = in.WithoutContents() // which a request is too large to hold twice
	given := in
	in = hideTexts(a, in)
	asked, err := in.Replace(func(p input.Place) ([]byte, error) {
		if isFilePlace(p) {
			return files[p.Path].placeholder(), nil
		}
		return []byte(`""`), nil // which no rule can tell from any other
	})
	if err != nil {
		return nil, err
	}
	decided, err := s.decideEarly(a, r, who, asked.JSON, context)
	if isOfRow(err) { // which is answered after what is wrong with the files
		var list []*sentFile
		for _, p := range in.Places() {
			if isFilePlace(p) {
				list = append(list, files[p.Path])
			}
		}
		if faults := s.checkUploads(a, who.identity, list); faults != nil {
			return nil, faults
		}
	}
	if err != nil {
		return nil, err
	}
	if decided == refused {
		return nil, &permissionDenied
	}

	sealed := map[string][]byte{}
	var list []*sentFile
	for _, p := range in.Places() {
		if isFilePlace(p) {
			list = append(list, files[p.Path])
			continue
		}
		if p.IsFound() {
			sealed[p.Path] = []byte(`""`)
			continue
		}
		if sealed[p.Path], err = s.seal(c, p.Format, p.Text(), "the input "+p.Path); err != nil {
			return nil, err
		}
	}
	if context, err = s.sealTexts(a, c, given, context); err != nil {
		return nil, err
	}
	call := &prepared{payer: s.payer(c, who)}
	if err := s.storeAll(a, who, list, call); err != nil {
		return nil, err
	}
	out, err := in.Replace(func(p input.Place) ([]byte, error) {
		if isFilePlace(p) {
			return files[p.Path].stored.append(nil, ""), nil
		}
		return sealed[p.Path], nil
	})
	if err != nil {
		s.discard(call, refuse(err))
		return nil, err
	}
	call.input, call.context = out.JSON, attaching(context, list)
	return call, nil
}

// isOfRow tells whether a call was refused for its row: that there is none, or one that
// the rules do not admit.
func isOfRow(err error) bool {
	var r *refusal
	return errors.As(err, &r) && (r.status == fiber.StatusNotFound || r.status == fiber.StatusForbidden)
}

// storeAll stores the files of a call.
func (s *Server) storeAll(a *action, who *caller, files []*sentFile, call *prepared) error {
	if len(files) == 0 {
		return nil
	}
	if err := s.checkUploads(a, who.identity, files); err != nil {
		return err
	}
	for _, f := range files {
		call.bytes += f.stored.Size
	}
	var err error
	if call.keys, err = s.storeFiles(a, call.payer, files); err != nil {
		s.discard(call, refuse(err))
	}
	return err
}
