// SQL, which is requested when its section is first opened.
"use strict";

/** The highlighted parts of SQL, by the names of their colours. */
const sqlParts = {
  "sql-comment": /--[^\n]*/y,
  "sql-text": /'(?:[^']|'')*'/y,
  "sql-word": /\b(?:all|and|any|array|as|asc|before|begin|between|by|case|check|coalesce|collate|comment|commit|constraint|create|cross|declare|default|definer|delete|desc|distinct|each|else|elsif|enable|end|exception|execute|exists|false|following|for|foreign|from|function|if|immutable|in|index|insert|into|invoker|is|join|key|language|lateral|left|level|like|limit|loop|not|null|offset|on|or|order|over|partition|perform|policy|primary|raise|references|replace|return|returning|returns|row|search_path|security|select|set|stable|strict|table|then|to|trigger|true|union|unique|update|using|values|volatile|when|where|with)\b/iy,
};

/** paint colours the parts of SQL, in browsers with highlights. */
function paint(pre) {
  if (!CSS.highlights || pre.dataset.painted || !pre.firstChild) {
    return;
  }
  pre.dataset.painted = "yes";
  const node = pre.firstChild;
  const next = /--|'|\b[a-z]/gi; // the possible beginning of a part
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
