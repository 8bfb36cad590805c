package lsp

import "encoding/json"

// The messages of the protocol, as far as this server reads and writes them.

type initializeParams struct {
	InitializationOptions json.RawMessage `json:"initializationOptions"` // any value that another editor's user wrote
	Capabilities          struct {
		General struct {
			PositionEncodings []encoding `json:"positionEncodings"`
		} `json:"general"`
		TextDocument struct {
			PublishDiagnostics struct {
				RelatedInformation bool `json:"relatedInformation"`
			} `json:"publishDiagnostics"`
		} `json:"textDocument"`
		Workspace struct {
			WorkspaceEdit struct {
				DocumentChanges    bool     `json:"documentChanges"`
				ResourceOperations []string `json:"resourceOperations"`
			} `json:"workspaceEdit"`
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// opensGenerated tells whether the client asks for generated documents by sternpost/generated.
func (p *initializeParams) opensGenerated() bool {
	var options struct {
		GeneratedDocuments bool `json:"generatedDocuments"`
	}
	return json.Unmarshal(p.InitializationOptions, &options) == nil && options.GeneratedDocuments
}

// object is a message that is only written, in one place.
type object = map[string]any

// syncIncremental says that changes are sent, not whole documents.
const syncIncremental = 2

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type documentID struct {
	URI string `json:"uri"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

func (p documentParams) uri() string { return p.TextDocument.URI }

type positionParams struct {
	documentParams
	Position position `json:"position"`
}

type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"` // of a document that is opened
	} `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

type contentChange struct {
	Range *textRange `json:"range"` // nil means the whole document
	Text  string     `json:"text"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"` // nil means that the file is not open
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

// The severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type hover struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText"`
	TextEdit      textEdit `json:"textEdit"`
}

type referenceParams struct {
	positionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type highlight struct {
	Range textRange `json:"range"`
}

type rangeParams struct {
	documentParams
	Range textRange `json:"range"`
}

type codeActionParams struct {
	rangeParams
	Context struct {
		Diagnostics []diagnostic `json:"diagnostics"`
		Only        []string     `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *workspaceEdit `json:"edit"`
}

type inlayHint struct {
	Position    position `json:"position"`
	Label       string   `json:"label"`
	Kind        int      `json:"kind"`
	PaddingLeft bool     `json:"paddingLeft"`
	Tooltip     string   `json:"tooltip"`
}

type signatureHelp struct {
	Signatures      []signature `json:"signatures"`
	ActiveSignature int         `json:"activeSignature"`
	ActiveParameter int         `json:"activeParameter"`
}

type signature struct {
	Label           string      `json:"label"`
	Documentation   *markup     `json:"documentation,omitempty"`
	Parameters      []parameter `json:"parameters"`
	ActiveParameter int         `json:"activeParameter"`
}

type parameter struct {
	Label string `json:"label"`
}

type semanticTokens struct {
	Data []int `json:"data"`
}

// generatedDocument is a document that the server makes.
type generatedDocument struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Text       string `json:"text"`
}

type symbolInformation struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Location  location `json:"location"`
	Container string   `json:"containerName,omitempty"`
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

// renamedRange is the start of a rename: the word in the document, and the name that the
// editor offers to change.
type renamedRange struct {
	Range textRange `json:"range"`
	Name  string    `json:"placeholder"`
}

// workspaceEdit is a change of several files. It uses one of its two forms, which the client
// supports.
type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes,omitempty"`
	DocumentChanges []any                 `json:"documentChanges,omitempty"` // *documentEdit, or an object: a file to rename or create
}

type documentEdit struct {
	TextDocument versionedID `json:"textDocument"`
	Edits        []textEdit  `json:"edits"`
}

type versionedID struct {
	URI     string `json:"uri"`
	Version *int   `json:"version"` // nil means that the file is not open
}

// messageWarning is the type of a message that warns.
const messageWarning = 2

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          textRange        `json:"range"`
	SelectionRange textRange        `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

// class is the kind of thing that a name means; editors show an icon for it.
type class int

const (
	classKeyword class = iota
	classModel
	classMessage
	classEnum
	classEnumValue
	classScalar
	classRole
	classAPI
	classField
	classAction
	classArm
	classAttribute
	classValue
)

// classes are the classes in the numbers of completion items and of document symbols, and in the names of semantic
// tokens.
var classes = [...]struct {
	completion, symbol int
	token              string
}{
	classKeyword: {14, 20, "keyword"}, classModel: {7, 5, "class"}, classMessage: {22, 23, "struct"}, classEnum: {13, 10, "enum"},
	classEnumValue: {20, 22, "enumMember"}, classScalar: {25, 26, "type"}, classRole: {8, 11, "type"}, classAPI: {9, 2, "namespace"},
	classField: {5, 8, "property"}, classAction: {2, 6, "method"}, classArm: {10, 7, "property"},
	classAttribute: {10, 7, "decorator"}, classValue: {6, 13, "variable"},
}
