"use strict";
// The editor's side of `sternpost lsp`: it only starts the server and shows the SQL that the server generates.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const scheme = "sternpost"; // of generated documents
const generatedChanged = new vscode.EventEmitter();
let client; // undefined while there is no server

async function activate(context) {
  context.subscriptions.push(
    generatedChanged,
    vscode.workspace.registerTextDocumentContentProvider(scheme, { onDidChange: generatedChanged.event, provideTextDocumentContent: generated }),
    vscode.commands.registerCommand("sternpost.showGenerated", showGenerated),
    vscode.commands.registerCommand("sternpost.restart", restart),
    vscode.workspace.onDidChangeConfiguration((e) => (e.affectsConfiguration("sternpost.path") ? restart() : undefined)),
    vscode.workspace.onDidSaveTextDocument(refresh),
  );
  await start();
}

async function start() {
  const command = vscode.workspace.getConfiguration("sternpost").get("path") || "sternpost";
  const started = new LanguageClient("sternpost", "Sternpost", { command, args: ["lsp"] }, {
    documentSelector: [{ language: "stern" }, { pattern: "**/sternpost.yaml" }],
    initializationOptions: { generatedDocuments: true },
  });
  try {
    await started.start();
    client = started;
  } catch (error) {
    vscode.window.showErrorMessage(`Sternpost: ${command} lsp does not start (${error.message}). Install sternpost, or set sternpost.path.`);
  }
}

async function restart() {
  await deactivate();
  await start();
}

async function deactivate() {
  const running = client;
  client = undefined;
  await running?.stop();
}

// generated returns the text of a document that the server makes.
async function generated(uri) {
  if (!client) {
    return "-- The Sternpost server is not running.\n";
  }
  try {
    return (await client.sendRequest("sternpost/generated", { uri: uri.toString() })).text;
  } catch (error) {
    return `-- ${error.message}\n`;
  }
}

// showGenerated opens the SQL of the declaration at the cursor, beside the schema.
async function showGenerated() {
  const editor = vscode.window.activeTextEditor;
  if (!client || !editor) {
    return;
  }
  const found = await client.sendRequest("textDocument/implementation", {
    textDocument: { uri: editor.document.uri.toString() },
    position: { line: editor.selection.active.line, character: editor.selection.active.character },
  });
  const at = found?.find((location) => location.uri.startsWith(scheme + ":"));
  if (!at) {
    vscode.window.showInformationMessage("Sternpost: put the cursor on the name of a model, a field or an action.");
    return;
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(at.uri));
  const { start, end } = at.range;
  await vscode.window.showTextDocument(document, {
    viewColumn: vscode.ViewColumn.Beside,
    selection: new vscode.Range(start.line, start.character, end.line, end.character),
  });
}

// refresh reads the open generated documents again.
function refresh(saved) {
  if (saved.languageId !== "stern") {
    return;
  }
  for (const document of vscode.workspace.textDocuments) {
    if (document.uri.scheme === scheme) {
      generatedChanged.fire(document.uri);
    }
  }
}

module.exports = { activate, deactivate };
