package lsp

import "context"

// references answers with every place in the project that names the thing at a
// position, also as part of another name, such as a key.
func (s *server) references(_ context.Context, p referenceParams) ([]location, error) {
	v, mentions := s.mentionsAt(p.positionParams)
	if v == nil {
		return nil, nil
	}
	found := []location{}
	for _, m := range mentions {
		if p.Context.IncludeDeclaration || !m.declares() {
			found = append(found, v.location(m.span))
		}
	}
	return found, nil
}

// highlights answers with the references in the document itself.
func (s *server) highlights(_ context.Context, p positionParams) ([]highlight, error) {
	v, mentions := s.mentionsAt(p)
	if v == nil {
		return nil, nil
	}
	found := []highlight{}
	for _, m := range mentions {
		if m.span.File == v.file.Source {
			found = append(found, highlight{v.lines.textRange(m.span.Start.Offset, m.span.End.Offset)})
		}
	}
	return found, nil
}

// mentionsAt returns the document and every mention of the thing at a position, no
// document if it is not open or the position names nothing.
func (s *server) mentionsAt(p positionParams) (*view, []mention) {
	v := s.view(p.TextDocument.URI)
	if v == nil {
		return nil, nil
	}
	name, _ := v.nameAt(p.Position)
	if name == nil {
		return nil, nil
	}
	return v, v.index.mentionsOf(name)
}
