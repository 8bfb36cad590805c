package lsp

import "context"

// references answers with every place in the project that names the thing at a
// position, those included where it is part of another name, such as a key.
func (s *server) references(_ context.Context, p referenceParams) ([]location, error) {
	v := s.view(p.TextDocument.URI)
	if v == nil {
		return nil, nil
	}
	name, _ := v.nameAt(p.Position)
	if name == nil {
		return nil, nil
	}
	found := []location{}
	for _, m := range v.index.mentionsOf(name) {
		if p.Context.IncludeDeclaration || !m.declares() {
			found = append(found, v.location(m.span))
		}
	}
	return found, nil
}

// highlights answers with the references in the document itself.
func (s *server) highlights(_ context.Context, p positionParams) ([]highlight, error) {
	v := s.view(p.TextDocument.URI)
	if v == nil {
		return nil, nil
	}
	name, _ := v.nameAt(p.Position)
	if name == nil {
		return nil, nil
	}
	found := []highlight{}
	for _, m := range v.index.mentionsOf(name) {
		if m.span.File == v.file.Source {
			found = append(found, highlight{v.lines.textRange(m.span.Start.Offset, m.span.End.Offset)})
		}
	}
	return found, nil
}
