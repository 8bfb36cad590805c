// What moves on the page of the application: search, calls, SQL on demand, sign-in.
"use strict";

const byID = (id) => document.getElementById(id);

// Search: an action or table stays if its text has all words, that of its SQL too.
byID("search").addEventListener("input", search);
byID("search").addEventListener("focus", readSQL, { once: true });

function search() {
  const words = byID("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text) => words.every((w) => text.toLowerCase().includes(w));
  let found = words.length === 0;
  for (const section of document.querySelectorAll("section.model")) {
    const name = section.dataset.model;
    const about = [name, ...Array.from(section.querySelectorAll(".doc"), (p) => p.textContent)].join(" ");
    const whole = has(about);
    let inside = 0;
    for (const article of section.querySelectorAll("article")) {
      const stays = whole || has(about + " " + article.textContent);
      for (const part of document.querySelectorAll(`[data-action="${article.dataset.action}"]`)) {
        part.hidden = !stays; // here, among the contents, and in the matrix
      }
      inside += stays;
    }
    const table = section.querySelector("details.table");
    const stays = whole || inside > 0 || (table !== null && has(table.textContent));
    for (const part of document.querySelectorAll(`[data-model="${name}"]`)) {
      part.hidden = !stays;
    }
    found ||= stays;
  }
  byID("nothing").hidden = found;
  for (const details of document.querySelectorAll("main details")) {
    const text = details.textContent.toLowerCase();
    details.classList.toggle("hit", words.some((w) => text.includes(w)));
  }
  mark(words);
}

/** mark shows where words stand, in browsers that can. */
function mark(words) {
  if (!CSS.highlights) {
    return;
  }
  const ranges = [];
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (words.length > 0 && texts.nextNode()) {
    const node = texts.currentNode;
    const text = node.data.toLowerCase();
    for (const w of words) {
      for (let at = text.indexOf(w); at >= 0; at = text.indexOf(w, at + w.length)) {
        ranges.push(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + w.length }));
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

/** readSQL gets the SQL of all actions, so that it can be searched. */
async function readSQL() {
  const response = await fetch("docs/sql").catch(() => null);
  if (!response?.ok) {
    byID("search").addEventListener("focus", readSQL, { once: true });
    return;
  }
  for (const [action, sql] of Object.entries(await response.json())) {
    const pre = document.querySelector(`#action-${action} [data-sql] pre`);
    if (pre.textContent === "") {
      pre.textContent = sql;
    }
  }
  search();
}

// In a narrow window the contents would be all there is to see.
if (matchMedia("(max-width: 50rem)").matches) {
  byID("contents").open = false;
}

/** What is told apart in SQL, by the name of its colour. */
const sqlParts = {
  "sql-comment": /--[^\n]*/y,
  "sql-text": /'(?:[^']|'')*'/y,
  "sql-word": /\b(?:all|and|any|array|as|asc|before|begin|between|by|case|check|coalesce|collate|comment|commit|constraint|create|cross|declare|default|definer|delete|desc|distinct|each|else|elsif|enable|end|exception|execute|exists|false|following|for|foreign|from|function|if|immutable|in|index|insert|into|invoker|is|join|key|language|lateral|left|level|like|limit|loop|not|null|offset|on|or|order|over|partition|perform|policy|primary|raise|references|replace|return|returning|returns|row|search_path|security|select|set|stable|strict|table|then|to|trigger|true|union|unique|update|using|values|volatile|when|where|with)\b/iy,
};

/** paint gives the parts of SQL their colours, in browsers that can. */
function paint(pre) {
  if (!CSS.highlights || pre.dataset.painted || !pre.firstChild) {
    return;
  }
  pre.dataset.painted = "yes";
  const node = pre.firstChild;
  const next = /--|'|\b[a-z]/gi; // where a part can begin
  for (let at = next.exec(node.data); at; at = next.exec(node.data)) {
    for (const [name, part] of Object.entries(sqlParts)) {
      part.lastIndex = at.index;
      if (!part.test(node.data)) {
        continue;
      }
      if (!CSS.highlights.has(name)) {
        CSS.highlights.set(name, new Highlight());
      }
      CSS.highlights.get(name).add(new StaticRange({ startContainer: node, startOffset: at.index, endContainer: node, endOffset: part.lastIndex }));
      next.lastIndex = part.lastIndex;
      break;
    }
  }
}

// SQL is asked for when it is first looked at.
for (const details of document.querySelectorAll("details[data-sql]")) {
  details.addEventListener("toggle", async () => {
    const pre = details.querySelector("pre");
    if (!details.open || pre.textContent !== "") {
      paint(pre);
      return;
    }
    try {
      const response = await fetch(details.dataset.sql);
      pre.textContent = response.ok ? await response.text() : (await response.json()).message;
      if (response.ok) {
        paint(pre);
      }
    } catch (e) {
      pre.textContent = e.message;
      details.addEventListener("toggle", () => (pre.textContent = ""), { once: true });
    }
  });
}

// Calls.
for (const form of document.querySelectorAll("form[data-path]")) {
  const body = form.elements.body;
  const answer = form.querySelector(".answer");
  const outcome = form.querySelector("output");
  fit(body);
  body.addEventListener("input", () => fit(body));
  for (const button of form.querySelectorAll("button[data-fill]")) {
    button.addEventListener("click", () => {
      body.value = body.dataset[button.dataset.fill];
      fit(body);
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    outcome.textContent = "…";
    const began = performance.now();
    try {
      const response = await fetch(form.dataset.path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...token.header() },
        body: body.value,
      });
      const text = await response.text();
      outcome.textContent = `${response.status} in ${Math.round(performance.now() - began)} ms`;
      outcome.className = response.ok ? "good" : "problem";
      answer.textContent = indented(text);
      if (response.status === 401) {
        showCaller();
      }
    } catch (e) {
      outcome.textContent = "no answer";
      outcome.className = "problem";
      answer.textContent = e.message;
    }
    answer.hidden = false;
  });
}

function fit(textarea) {
  textarea.rows = Math.min(24, Math.max(3, textarea.value.split("\n").length + 1));
}

/** indented spreads JSON over lines. Numbers are as they came. */
function indented(text) {
  let out = "";
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      out += c;
      if (c === "\\") {
        out += text[++i];
      } else if (c === '"') {
        quoted = false;
      }
      continue;
    }
    const line = () => "\n" + "  ".repeat(depth);
    if (c === '"') {
      quoted = true;
      out += c;
    } else if ((c === "{" || c === "[") && !/[}\]]/.test(text[i + 1])) {
      depth++;
      out += c + line();
    } else if (c === "{" || c === "[") {
      out += c + text[++i];
    } else if (c === "}" || c === "]") {
      depth--;
      out += line() + c;
    } else if (c === ",") {
      out += c + line();
    } else if (c === ":") {
      out += ": ";
    } else {
      out += c;
    }
  }
  return out;
}

// Who is calling.
function showCaller() {
  const known = token.get();
  byID("sign-out").hidden = !known;
  for (const form of document.querySelectorAll(".caller form")) {
    form.hidden = known !== null;
  }
  byID("who").replaceChildren("Calls below are ", Object.assign(document.createElement("b"), { textContent: known ? callerOf(known) : "anonymous" }), ".");
}

/** callerOf reads whom a token names, without checking it. */
function callerOf(text) {
  try {
    const claims = JSON.parse(atob(text.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
    return `those of identity ${claims.sub}`;
  } catch {
    return "those of a token that cannot be read";
  }
}

function signedIn(value) {
  token.set(value);
  byID("sign-in-problem").textContent = "";
  showCaller();
}

byID("use-token").addEventListener("submit", (event) => {
  event.preventDefault();
  signedIn(event.target.elements.token.value.trim());
  event.target.reset();
});

byID("sign-out").addEventListener("click", () => {
  token.clear();
  showCaller();
});

byID("sign-in")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const sent = new URLSearchParams(new FormData(form));
  sent.set("grant_type", "password");
  try {
    const response = await fetch("auth/token", { method: "POST", body: sent });
    const answer = await response.json();
    if (response.ok) {
      form.reset();
      signedIn(answer.access_token);
      return;
    }
    byID("sign-in-problem").textContent = answer.error_description ?? answer.error ?? answer.message;
  } catch (e) {
    byID("sign-in-problem").textContent = e.message;
  }
});

showCaller();
