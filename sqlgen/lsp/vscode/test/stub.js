"use strict";
// A stub of the module `vscode`: the parts that the extension and its language client use, and empty ones that they
// only mention. The providers that the client registers are kept, for tests to call as the editor would.

const Module = require("node:module");
const { pathToFileURL } = require("node:url");

class EventEmitter {
  listeners = new Set();
  event = (listener, self) => {
    const bound = self ? listener.bind(self) : listener;
    this.listeners.add(bound);
    return { dispose: () => this.listeners.delete(bound) };
  };
  fire(e) {
    return Promise.all([...this.listeners].map((listener) => listener(e)));
  }
  dispose() {}
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(a, b, c, d) {
    this.start = typeof a === "number" ? new Position(a, b) : a;
    this.end = typeof a === "number" ? new Position(c, d) : b;
  }
}

class Uri {
  static parse(text) {
    const uri = new Uri();
    uri.text = text;
    uri.scheme = text.slice(0, text.indexOf(":"));
    uri.path = decodeURI(text.slice(text.indexOf(":") + 1)).replace(/^\/\/[^/]*/, "");
    return Object.assign(uri, { fsPath: uri.path, authority: "", query: "", fragment: "" });
  }
  static file(path) {
    return Uri.parse(pathToFileURL(path).href);
  }
  toString() {
    return this.text;
  }
}

class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
  static from(...list) {
    return new Disposable(() => list.forEach((d) => d.dispose()));
  }
}

// anything is a class, a function and a namespace at once.
function anything(known = {}) {
  return new Proxy(class {}, {
    get: (target, name) => {
      if (!(name in known) && !(name in target)) {
        known[name] = anything();
      }
      return name in known ? known[name] : target[name];
    },
    set: (_, name, value) => ((known[name] = value), true),
    apply: () => anything(),
  });
}

const state = { providers: {}, contents: {}, commands: {}, settings: {}, shown: [], messages: [], diagnostics: new Map(), emitters: {} };

function event(name) {
  state.emitters[name] ??= new EventEmitter();
  return state.emitters[name].event;
}

const events = (names) => Object.fromEntries(names.split(" ").map((name) => [name, event(name)]));
const tells = (type) => (text) => (state.messages.push(`${type}: ${text}`), Promise.resolve());

const languages = anything({
  match: (selector, document) => (Array.isArray(selector) ? selector : [selector]).some((s) => s.language === document.languageId) && 10,
  createDiagnosticCollection: () => ({
    set: (uri, list) => state.diagnostics.set(uri.toString(), list),
    delete: (uri) => state.diagnostics.delete(uri.toString()),
    clear: () => state.diagnostics.clear(),
    has: (uri) => state.diagnostics.has(uri.toString()),
    dispose() {},
  }),
});
for (const kind of ["Hover", "Definition", "Implementation", "Reference", "Rename", "CompletionItem", "CodeActions", "DocumentSymbol",
  "WorkspaceSymbol", "SignatureHelp", "DocumentFormattingEdit", "DocumentHighlight", "InlayHints", "DocumentSemanticTokens",
  "DocumentRangeSemanticTokens"]) {
  languages[`register${kind}Provider`] = (selector, provider) => {
    state.providers[kind] = kind === "WorkspaceSymbol" ? selector : provider;
    return new Disposable();
  };
}

const vscode = anything({
  version: "1.100.0",
  EventEmitter, Position, Range, Uri, Disposable,
  ViewColumn: { Beside: -2 },
  Diagnostic: class {
    constructor(range, message, severity) {
      Object.assign(this, { range, message, severity });
    }
  },
  Location: class {
    constructor(uri, range) {
      Object.assign(this, { uri, range });
    }
  },
  CancellationTokenSource: class {
    token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
    cancel() {}
    dispose() {}
  },
  CancellationError: class extends Error {},
  env: { language: "en", appName: "stub", clipboard: {} },
  languages,
  commands: {
    registerCommand: (name, run) => ((state.commands[name] = run), new Disposable(() => delete state.commands[name])),
    executeCommand: (name, ...args) => state.commands[name]?.(...args),
  },
  window: anything({
    ...events("onDidChangeActiveTextEditor onDidChangeVisibleTextEditors onDidChangeWindowState"),
    tabGroups: { all: [], ...events("onDidChangeTabs onDidChangeTabGroups") },
    visibleTextEditors: [],
    activeTextEditor: undefined,
    createOutputChannel: () => ({ append() {}, appendLine() {}, show() {}, replace() {}, clear() {}, hide() {}, dispose() {} }),
    showErrorMessage: tells("error"),
    showWarningMessage: tells("warning"),
    showInformationMessage: tells("information"),
    showTextDocument: (document, options) => (state.shown.push({ document, options }), Promise.resolve()),
    withProgress: (_, run) => run({ report() {} }, { onCancellationRequested: () => new Disposable() }),
  }),
  workspace: anything({
    ...events("onDidOpenTextDocument onDidCloseTextDocument onDidChangeTextDocument onDidSaveTextDocument onWillSaveTextDocument "
      + "onDidChangeConfiguration onDidChangeWorkspaceFolders onDidCreateFiles onDidRenameFiles onDidDeleteFiles onWillCreateFiles "
      + "onWillRenameFiles onWillDeleteFiles onDidOpenNotebookDocument onDidCloseNotebookDocument onDidChangeNotebookDocument "
      + "onDidSaveNotebookDocument"),
    workspaceFolders: undefined,
    textDocuments: [],
    notebookDocuments: [],
    getConfiguration: () => ({ get: (name, or) => state.settings[name] ?? or, has: () => false, inspect: () => undefined }),
    createFileSystemWatcher: () => ({ ...events("onDidCreate onDidChange onDidDelete"), dispose() {} }),
    registerTextDocumentContentProvider: (scheme, provider) => ((state.contents[scheme] = provider), new Disposable()),
    openTextDocument: async (uri) => ({ uri, languageId: "sql", text: await state.contents[uri.scheme].provideTextDocumentContent(uri) }),
    applyEdit: async () => true,
  }),
});

// document makes a document and has the editor open it.
async function open(uri, languageId, text) {
  const document = {
    uri, languageId, version: 1, isClosed: false, isDirty: false, fileName: uri.fsPath, getText: () => text, lineCount: text.split("\n").length,
  };
  vscode.workspace.textDocuments.push(document);
  await state.emitters.onDidOpenTextDocument.fire(document);
  return document;
}

const load = Module._load;
Module._load = function (name, ...rest) {
  return name === "vscode" ? vscode : load.call(this, name, ...rest);
};

module.exports = { vscode, state, open };
