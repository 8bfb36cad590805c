package check

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// ReadConfig reads the compiler's keys of sternpost.yaml and leaves the others to
// the server. A nil src means that the file is missing: every key then has its
// default. A key in error has its default too, so that the schema can still be
// checked.
func ReadConfig(src *syntax.Source, errs *syntax.Errors) *model.Config {
	config := &model.Config{UseDefaultAPI: true}
	if src == nil {
		return config
	}
	r := &configReader{src: src, errs: errs, anchors: map[string]ast.Node{}}
	before := len(*errs)
	root := r.parse()
	if root == nil {
		config.Incomplete = len(*errs) > before
		return config
	}
	config.UseDefaultAPI = r.boolean(root, "useDefaultApi", true)
	config.HideRefusedRows = r.boolean(root, "hideRefusedRows", false)
	config.ChecksInline = r.choice(r.section(root, "uploads"), "uploads", "inline", "free", "checked") == "checked"
	config.Environment = r.names(root, "environment")
	config.Secrets = r.names(root, "secrets")
	config.Claims = r.claims(root)
	config.ProvesAny = r.provesAny(root)
	subscribers, _ := entries(r.section(root, "subscribers"))
	for _, s := range subscribers {
		config.Webhooks = append(config.Webhooks, model.Webhook{Name: s.Key.GetToken().Value, Span: r.span(s.Key.GetToken())})
	}
	config.Incomplete = len(*errs) > before
	return config
}

// configReader reads values out of a YAML tree and reports those of another shape.
type configReader struct {
	src     *syntax.Source
	errs    *syntax.Errors
	anchors map[string]ast.Node
}

// parse returns the file's outermost mapping, nil if it is empty or in error.
func (r *configReader) parse() ast.Node {
	if !utf8.Valid(r.src.Text) {
		r.errs.Add(BadConfig, syntax.Span{File: r.src}, configNotUTF8())
		return nil
	}
	file, err := parser.ParseBytes(r.src.Text, 0)
	if err != nil {
		span, message := syntax.Span{File: r.src}, err.Error()
		var syntaxError *yaml.SyntaxError
		if errors.As(err, &syntaxError) {
			span, message = r.span(syntaxError.Token), syntaxError.Message
		}
		r.errs.Add(BadConfig, span, configNotYAML(message))
		return nil
	}
	var root ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			r.errs.Add(BadConfig, r.span(doc.Body.GetToken()), configOneDocument())
			return root
		}
		root = doc.Body
	}
	if root == nil {
		return nil
	}
	ast.Walk(anchorVisitor{r.anchors}, root)
	if root = r.resolve(root); root == nil {
		return nil
	}
	if _, ok := entries(root); !ok {
		if _, isNull := root.(*ast.NullNode); !isNull {
			r.errs.Add(BadConfig, r.span(root.GetToken()), configShape("the file", "keys with values"))
		}
		return nil
	}
	return root
}

// anchorVisitor collects what aliases may refer to.
type anchorVisitor struct {
	anchors map[string]ast.Node
}

// Visit notes an anchor.
func (v anchorVisitor) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		v.anchors[a.Name.String()] = a.Value
	}
	return v
}

// resolve returns the node behind an anchor or alias. It reports an alias without
// anchor, or one that leads back to itself, and returns nil.
func (r *configReader) resolve(n ast.Node) ast.Node {
	at := n
	for range 16 {
		switch node := at.(type) {
		case *ast.AnchorNode:
			at = node.Value
		case *ast.AliasNode:
			at = r.anchors[node.Value.String()]
		case nil:
			r.errs.Add(BadConfig, r.span(n.GetToken()), configAlias())
			return nil
		default:
			return at
		}
	}
	r.errs.Add(BadConfig, r.span(n.GetToken()), configAlias())
	return nil
}

// entries returns the entries of a mapping.
func entries(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// value returns the value of a key, nil if it is absent or null.
func (r *configReader) value(mapping ast.Node, key string) ast.Node {
	values, _ := entries(mapping)
	for _, v := range values {
		if k, ok := v.Key.(*ast.StringNode); ok && k.Value == key {
			value := r.resolve(v.Value)
			if _, isNull := value.(*ast.NullNode); isNull {
				return nil
			}
			return value
		}
	}
	return nil
}

// boolean returns the value of a key that is true or false.
func (r *configReader) boolean(mapping ast.Node, key string, absent bool) bool {
	value := r.value(mapping, key)
	if value == nil {
		return absent
	}
	b, ok := value.(*ast.BoolNode)
	if !ok {
		r.errs.Add(BadConfig, r.span(value.GetToken()), configShape(key, "true or false"))
		return absent
	}
	return b.Value
}

// section returns the value of a key that is a mapping, nil if it is absent or in error.
func (r *configReader) section(mapping ast.Node, key string) ast.Node {
	value := r.value(mapping, key)
	if value == nil {
		return nil
	}
	if _, ok := entries(value); !ok {
		r.errs.Add(BadConfig, r.span(value.GetToken()), configShape(key, "keys with values"))
		return nil
	}
	return value
}

// choice returns the value of a key of a section, which is one of some words. The
// first word is the value of a key that is absent or in error.
func (r *configReader) choice(section ast.Node, name, key string, words ...string) string {
	value := r.value(section, key)
	if value == nil {
		return words[0]
	}
	word, ok := value.(*ast.StringNode)
	if !ok || !slices.Contains(words, word.Value) {
		r.errs.Add(BadConfig, r.span(value.GetToken()), configShape(name+"."+key, strings.Join(words, " or ")))
		return words[0]
	}
	return word.Value
}

// list returns the elements of a list of mappings.
func (r *configReader) list(mapping ast.Node, key, shape string) []ast.Node {
	value := r.value(mapping, key)
	if value == nil {
		return nil
	}
	sequence, ok := value.(*ast.SequenceNode)
	if !ok {
		r.errs.Add(BadConfig, r.span(value.GetToken()), configShape(key, shape))
		return nil
	}
	var elements []ast.Node
	for _, e := range sequence.Values {
		element := r.resolve(e)
		if element == nil {
			continue
		}
		if _, ok := entries(element); !ok {
			r.errs.Add(BadConfig, r.span(e.GetToken()), configShape(key, shape))
			continue
		}
		elements = append(elements, element)
	}
	return elements
}

// names returns the names that a list declares for ctx.env or ctx.secrets.
func (r *configReader) names(root ast.Node, key string) []string {
	var names []string
	for _, e := range r.list(root, key, "a list of entries with a name") {
		value := r.value(e, "name")
		name, ok := value.(*ast.StringNode)
		switch {
		case !ok:
			r.errs.Add(BadConfig, r.spanOr(value, e), configShape(key+"[].name", "text"))
		case !isVariableName(name.Value):
			r.errs.Add(BadConfig, r.span(name.Token), configName(name.Value))
		case slices.Contains(names, name.Value):
			r.errs.Add(BadConfig, r.span(name.Token), configNameTwice(name.Value))
		default:
			names = append(names, name.Value)
		}
	}
	return names
}

// isVariableName tells whether a name has the form of an environment variable
// that is not Sternpost's own.
func isVariableName(name string) bool {
	for i, b := range []byte(name) {
		isUpper := 'A' <= b && b <= 'Z'
		if !isUpper && (i == 0 || b != '_' && (b < '0' || b > '9')) {
			return false
		}
	}
	return name != "" && !strings.HasPrefix(name, "STERNPOST_")
}

// provesAny tells whether one of several providers names no domains. The server reports providers of another shape.
func (r *configReader) provesAny(root ast.Node) bool {
	providers, isList := r.value(r.value(root, "auth"), "providers").(*ast.SequenceNode)
	return isList && len(providers.Values) > 1 && slices.ContainsFunc(providers.Values, func(p ast.Node) bool {
		return r.value(r.resolve(p), "emailDomains") == nil
	})
}

// claims returns the fields that tokens add to Identity.
func (r *configReader) claims(root ast.Node) []model.Claim {
	auth := r.section(root, "auth")
	if auth == nil {
		return nil
	}
	var claims []model.Claim
	columns := clashes{}
	for _, e := range r.list(auth, "claims", "a list of entries with key and field") {
		key, keyOK := r.value(e, "key").(*ast.StringNode)
		field, fieldOK := r.value(e, "field").(*ast.StringNode)
		unique := r.boolean(e, "unique", false)
		switch {
		case !keyOK || key.Value == "":
			r.errs.Add(BadConfig, r.spanOr(r.value(e, "key"), e), configShape("auth.claims[].key", "text"))
			continue
		case !fieldOK:
			r.errs.Add(BadConfig, r.spanOr(r.value(e, "field"), e), configShape("auth.claims[].field", "text"))
			continue
		case !isFieldName(field.Value) || isReservedField(field.Value) && !isIdentityField(model.SnakeForm(field.Value)) ||
			len(model.SnakeForm(field.Value)) > model.MaxColumnName:
			r.errs.Add(BadConfig, r.span(field.Token), configClaimName(field.Value))
			continue
		case isIdentityField(model.SnakeForm(field.Value)):
			r.errs.Add(BadConfig, r.span(field.Token), configClaimTaken(field.Value))
			continue
		}
		if _, found := columns.add(model.SnakeForm(field.Value), field.Value, syntax.Span{}); found {
			r.errs.Add(BadConfig, r.span(field.Token), configClaimTaken(field.Value))
			continue
		}
		claims = append(claims, model.Claim{Key: key.Value, Field: field.Value, Unique: unique})
	}
	return claims
}

// spanOr returns the place of a value, or of its entry without one.
func (r *configReader) spanOr(value, entry ast.Node) syntax.Span {
	if value == nil {
		value = entry
	}
	return r.span(value.GetToken())
}

// span returns the place of a token. Its line and column are counted in the file,
// since the library's offset does not count bytes.
func (r *configReader) span(t *token.Token) syntax.Span {
	span := syntax.Span{File: r.src, Start: syntax.Pos{Line: 1, Column: 1}}
	if t == nil || t.Position == nil {
		span.End = span.Start
		return span
	}
	line, column, offset := 1, 1, 0
	for offset < len(r.src.Text) && (line < t.Position.Line || line == t.Position.Line && column < t.Position.Column) {
		c, size := utf8.DecodeRune(r.src.Text[offset:])
		if c == '\n' {
			if line == t.Position.Line {
				break
			}
			line, column = line+1, 0
		}
		column++
		offset += size
	}
	span.Start = syntax.Pos{Offset: offset, Line: line, Column: column}
	length := min(len(strings.TrimSpace(t.Value)), len(r.src.Text)-offset)
	if i := strings.IndexByte(string(r.src.Text[offset:offset+length]), '\n'); i >= 0 {
		length = i
	}
	span.End = syntax.Pos{Offset: offset + length, Line: line, Column: column + utf8.RuneCount(r.src.Text[offset:offset+length])}
	return span
}
