"use strict";
// The grammar as editors read it: vscode-textmate with the regular expressions of Oniguruma.

const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { Registry, parseRawGrammar, INITIAL } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const root = path.resolve(__dirname, "..");

async function grammar() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm);
  const file = path.join(root, "syntaxes/stern.tmLanguage.json");
  return new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file),
  }).loadGrammar("source.stern");
}

// tokens returns the parts of a text with their innermost scopes, line by line.
function tokens(stern, text) {
  let state = INITIAL;
  return text.split("\n").map((line) => {
    const result = stern.tokenizeLine(line, state);
    state = result.ruleStack;
    return result.tokens.map((t) => ({ text: line.slice(t.startIndex, t.endIndex), scope: t.scopes.at(-1), scopes: t.scopes }));
  });
}

const loaded = grammar();

test("scopes", async () => {
  const stern = await loaded;
  const cases = [
    ["model Post {", "model keyword.declaration", "Post entity.name.type"],
    ["enum State { Open Shut }", "enum keyword.declaration", "State entity.name.type", "Open entity.name.type"],
    ["  fields {", "fields keyword.other.block"],
    ["    model Text", "model variable.other.property", "Text support.type"],
    ["    title Text @unique @maxLength(200)", "title variable.other.property", "Text support.type", "@unique storage.modifier.attribute",
      "@maxLength storage.modifier.attribute", "200 constant.numeric"],
    ["    order Order[]?", "order variable.other.property", "Order entity.name.type", "? keyword.operator"],
    ["    state State @default(State.Open) // so far", "State entity.name.type", "Open variable.other.enummember", "// so far comment.line.double-slash"],
    ["fields { a Text  b Number }", "a variable.other.property", "b variable.other.property", "Number support.type"],
    ["    get getPost(id) { @embed(author.profile) }", "get keyword.other.kind", "getPost entity.name.function", "@embed storage.modifier.attribute"],
    ["    update move(id) with (state?, when: Date)", "update keyword.other.kind", "with keyword.other.clause", "when variable.parameter", "Date support.type"],
    ["    read count(Any) returns (Totals) @allow(NoRule)", "read keyword.other.kind", "returns keyword.other.clause", "Any support.type",
      "NoRule support.constant.warning"],
    ["  @permission(expression: ctx.identity != null, roles: [Staff], actions: [get, list])", "@permission storage.modifier.attribute",
      "expression variable.parameter", "ctx variable.language", "identity support.variable", "!= keyword.operator", "null constant.language",
      "roles variable.parameter", "Staff entity.name.type", "actions variable.parameter", "get keyword.other.kind", "list keyword.other.kind"],
    ["    @orderBy(createdAt: desc) @onDelete(cascade)", "createdAt variable.parameter", "desc constant.language.how", "cascade constant.language.how"],
    ["    total Decimal @computed(SUM(order.items.price) / 2.5e-1)", "SUM support.function", "/ keyword.operator", "2.5e-1 constant.numeric"],
    ["    @where(post.state in [State.Open] && !post.hidden)", "in keyword.operator.word", "&& keyword.operator", "! keyword.operator"],
    [String.raw`    @validate(a != "say \"no\" \q", message: "😀")`, String.raw`\" constant.character.escape`, String.raw`\q invalid.illegal.escape`],
    ["/// What is read.", "/// What is read. comment.line.documentation"],
    ["//// a line", "//// a line comment.line.double-slash"],
    ["/* a */ model B {", "model keyword.declaration", "B entity.name.type"],
    ["    x Text @nothing", "x variable.other.property"],
  ];
  for (const [line, ...want] of cases) {
    const got = tokens(stern, line)[0].map((t) => `${t.text.trim()} ${t.scope.replace(/\.stern$/, "")}`);
    for (const w of want) {
      const of = w.slice(0, w.lastIndexOf(" "));
      const whole = /^comment/.test(w.slice(w.lastIndexOf(" ") + 1)) ? [tokens(stern, line)[0].filter((t) => t.scope.startsWith("comment"))
        .map((t) => t.text).join("").trim() + " " + w.slice(w.lastIndexOf(" ") + 1)] : got;
      assert.ok(whole.includes(w), `${line}: ${of}: got ${got.join(" | ")}, want ${w}`);
    }
  }
  assert.ok(!tokens(stern, "    x Text @nothing")[0].some((t) => t.scope.startsWith("storage.modifier")), "an attribute that there is not");
});

test("a comment and a text end where they end", async () => {
  const stern = await loaded;
  const lines = tokens(stern, 'a /* one\ntwo */ model B {\nx Text @default("open\ny Text');
  assert.match(lines[1][0].scope, /^comment\.block/);
  assert.ok(lines[1].some((t) => t.text === "B" && t.scope === "entity.name.type.stern"));
  assert.ok(lines[3].some((t) => t.text === "y" && t.scope === "variable.other.property.stern"), "a text ends with its line");
});

test("the example apps", async () => {
  const stern = await loaded;
  for (const app of ["workshop", "ledger"]) {
    const text = fs.readFileSync(path.resolve(root, `../../../integration/apps/${app}/${app}.stern`), "utf8");
    for (const [i, line] of tokens(stern, text).entries()) {
      for (const t of line) {
        assert.ok(!t.scope.startsWith("invalid"), `${app}:${i + 1}: ${t.text} is ${t.scope}`);
        const isNamed = t.scope !== "source.stern" || /^[\s{}()[\],.:"]*$/.test(t.text);
        assert.ok(isNamed, `${app}:${i + 1}: ${JSON.stringify(t.text)} has no scope`);
        if (/^\s*@/.test(t.text) && !t.scope.startsWith("string") && !t.scope.startsWith("comment")) {
          assert.equal(t.scope, "storage.modifier.attribute.stern", `${app}:${i + 1}: ${t.text}`);
        }
      }
    }
  }
});
