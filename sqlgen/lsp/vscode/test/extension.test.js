"use strict";
// The extension as it is packaged, with a stub in the place of the editor, talks to the server itself: the program that
// the variable STERNPOST names.

const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { vscode, state, open } = require("./stub.js");

const app = path.resolve(__dirname, "../../../../integration/apps/workshop");
const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

// until waits for an event that must come.
async function until(what, holds) {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((next) => setTimeout(next, 20))) {
    if (await holds()) {
      return;
    }
  }
  assert.fail(`no ${what} came`);
}

test("the extension", async (t) => {
  state.settings.path = process.env.STERNPOST ?? "sternpost";
  const extension = require("../dist/extension.js");
  const context = { subscriptions: [] };
  await extension.activate(context);
  t.after(() => extension.deactivate());
  assert.deepEqual(state.messages, []);

  const file = path.join(app, "workshop.stern");
  const text = fs.readFileSync(file, "utf8");
  const document = await open(vscode.Uri.file(file), "stern", text);
  const at = (mark) => {
    const [before, after] = mark.split("¦");
    const offset = text.indexOf(before + after) + before.length;
    const lines = text.slice(0, offset).split("\n");
    return new vscode.Position(lines.length - 1, lines.at(-1).length);
  };
  const show = (mark) => {
    vscode.window.activeTextEditor = { document, selection: { active: at(mark) } };
    return state.commands["sternpost.showGenerated"]();
  };

  await t.test("has a provider for what the server can do", async () => {
    await until("providers", () => state.providers.InlayHints);
    for (const kind of ["Hover", "Definition", "Implementation", "Reference", "Rename", "CompletionItem", "CodeActions", "DocumentSymbol",
      "WorkspaceSymbol", "SignatureHelp", "DocumentFormattingEdit", "DocumentHighlight", "InlayHints", "DocumentSemanticTokens"]) {
      assert.ok(state.providers[kind], kind);
    }
  });

  await t.test("shows diagnostics", async () => {
    const broken = await open(vscode.Uri.parse("untitled:broken"), "stern", "model A { fields { x Txet } }\n");
    await until("diagnostic", () => state.diagnostics.get(broken.uri.toString())?.length > 0);
    assert.match(state.diagnostics.get(broken.uri.toString())[0].message, /did you mean "Text"/);
  });

  await t.test("answers the editor's questions", async () => {
    const hover = await state.providers.Hover.provideHover(document, at("¦frameNumber Text"), token);
    assert.ok(hover);
    const places = await state.providers.Reference.provideReferences(document, at("model ¦Bicycle {"), { includeDeclaration: true }, token);
    assert.ok(places.length >= 3);
    const code = await state.providers.Definition.provideDefinition(document, at("read ¦bill("), token);
    assert.match((code[0] ?? code).uri.toString(), /functions\/bill\.sql$/);
  });

  await t.test("shows generated SQL", async () => {
    await show("get ¦getBicycle(");
    const action = state.shown.pop();
    assert.match(action.document.text, /create function api\.get_bicycle\(/);
    await show("¦frameNumber Text");
    const field = state.shown.pop();
    const line = field.document.text.split("\n")[field.options.selection.start.line];
    assert.match(line, /^ {2}frame_number text not null/);
    await show("enum ¦OrderState");
    assert.equal(state.shown.length, 0);
    assert.match(state.messages.pop(), /information: .*put the cursor/);
  });

  await t.test("has generated SQL read again when a schema is saved", async () => {
    const uri = vscode.Uri.parse("sternpost:/some/file.sql");
    vscode.workspace.textDocuments.push({ uri, languageId: "sql" });
    const changed = [];
    state.contents.sternpost.onDidChange((which) => changed.push(which));
    await state.emitters.onDidSaveTextDocument.fire({ languageId: "sql", uri });
    assert.deepEqual(changed, []);
    await state.emitters.onDidSaveTextDocument.fire(document);
    assert.deepEqual(changed, [uri]);
    vscode.workspace.textDocuments.pop();
  });

  await t.test("says what a generated document lacks", async () => {
    const text = await state.contents.sternpost.provideTextDocumentContent(vscode.Uri.parse("sternpost:/no/such/project/A.sql"));
    assert.match(text, /^-- no file of the project/);
  });

  await t.test("starts again, with another path and without a program", async () => {
    await state.commands["sternpost.restart"]();
    await show("get ¦getBicycle(");
    assert.match(state.shown.pop().document.text, /create function api\.get_bicycle\(/);
    state.settings.path = "/no/such/program";
    await state.emitters.onDidChangeConfiguration.fire({ affectsConfiguration: (name) => name === "sternpost.path" });
    assert.match(state.messages.pop(), /error: Sternpost: \/no\/such\/program lsp does not start .* set sternpost\.path/);
    await show("get ¦getBicycle(");
    assert.equal(state.shown.length, 0);
  });
});
