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

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   serverInfo         `json:"serverInfo"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type serverCapabilities struct {
	PositionEncoding           encoding              `json:"positionEncoding"`
	TextDocumentSync           syncOptions           `json:"textDocumentSync"`
	CompletionProvider         completionOptions     `json:"completionProvider"`
	HoverProvider              bool                  `json:"hoverProvider"`
	DefinitionProvider         bool                  `json:"definitionProvider"`
	DocumentSymbolProvider     bool                  `json:"documentSymbolProvider"`
	DocumentFormattingProvider bool                  `json:"documentFormattingProvider"`
	ReferencesProvider         bool                  `json:"referencesProvider"`
	DocumentHighlightProvider  bool                  `json:"documentHighlightProvider"`
	WorkspaceSymbolProvider    bool                  `json:"workspaceSymbolProvider"`
	RenameProvider             renameOptions         `json:"renameProvider"`
	CodeActionProvider         codeActionOptions     `json:"codeActionProvider"`
	ImplementationProvider     bool                  `json:"implementationProvider"`
	InlayHintProvider          bool                  `json:"inlayHintProvider"`
	SignatureHelpProvider      signatureHelpOptions  `json:"signatureHelpProvider"`
	SemanticTokensProvider     semanticTokensOptions `json:"semanticTokensProvider"`
}

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

// syncIncremental says that changes are sent, not whole documents.
const syncIncremental = 2

type completionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type codeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

type signatureHelpOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type semanticTokensOptions struct {
	Legend legend `json:"legend"`
	Range  bool   `json:"range"`
	Full   bool   `json:"full"`
}

type legend struct {
	TokenTypes     []string `json:"tokenTypes"`
	TokenModifiers []string `json:"tokenModifiers"`
}

type renameOptions struct {
	PrepareProvider bool `json:"prepareProvider"`
}

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

type positionParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
}

type openParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
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
	TextDocument documentID `json:"textDocument"`
	Range        textRange  `json:"range"`
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
	DocumentChanges []any                 `json:"documentChanges,omitempty"` // *documentEdit, *fileRename, *fileCreation
}

type documentEdit struct {
	TextDocument versionedID `json:"textDocument"`
	Edits        []textEdit  `json:"edits"`
}

type versionedID struct {
	URI     string `json:"uri"`
	Version *int   `json:"version"` // nil means that the file is not open
}

type fileRename struct {
	Kind   string `json:"kind"` // rename
	OldURI string `json:"oldUri"`
	NewURI string `json:"newUri"`
}

type fileCreation struct {
	Kind string `json:"kind"` // create
	URI  string `json:"uri"`
}

type showMessageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
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

type registrationParams struct {
	Registrations []registration `json:"registrations"`
}

type registration struct {
	ID      string       `json:"id"`
	Method  string       `json:"method"`
	Options watchOptions `json:"registerOptions"`
}

type watchOptions struct {
	Watchers []fileWatcher `json:"watchers"`
}

type fileWatcher struct {
	GlobPattern string `json:"globPattern"`
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

// completionKind returns the class in the numbers of completion items.
func (c class) completionKind() int {
	return [...]int{
		classKeyword: 14, classModel: 7, classMessage: 22, classEnum: 13, classEnumValue: 20, classScalar: 25,
		classRole: 8, classAPI: 9, classField: 5, classAction: 2, classArm: 10, classAttribute: 10, classValue: 6,
	}[c]
}

// symbolKind returns the class in the numbers of document symbols.
func (c class) symbolKind() int {
	return [...]int{
		classKeyword: 20, classModel: 5, classMessage: 23, classEnum: 10, classEnumValue: 22, classScalar: 26,
		classRole: 11, classAPI: 2, classField: 8, classAction: 6, classArm: 7, classAttribute: 7, classValue: 13,
	}[c]
}
