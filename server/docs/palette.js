// The palette finds models, actions, rows and pages by their names, descriptions and SQL.
"use strict";

const palette = element(
  "dialog",
  { id: "palette", ":aria-label": "Find" },
  element("input", { type: "search", ":aria-label": "Find models, actions, rules, inputs and SQL", placeholder: "Find models, actions, rules, inputs, SQL", autocomplete: "off", spellcheck: false }),
  element("ul", { ":role": "listbox" }),
);
document.body.append(palette);

let found = null; // all entries
let functions = null; // the SQL of the actions, by their names

async function openPalette() {
  if (palette.open) {
    return;
  }
  palette.showModal();
  palette.querySelector("input").select();
  found ??= await (await fetch(root + "docs/index")).json();
  showFound();
  functions ??= await fetch(root + "docs/sql").then((response) => (response.ok ? response.json() : {}), () => ({}));
  showFound();
}

/** rank returns how well an entry matches the words; smaller is better, null is no match. */
function rank(entry, words) {
  const name = entry.name.toLowerCase();
  const about = `${entry.kind} ${entry.about ?? ""}`.toLowerCase();
  const text = (entry.text ?? "").toLowerCase();
  const sql = (functions && entry.path.startsWith("docs/action/") && functions[entry.name]?.toLowerCase()) || "";
  let worst = 0;
  for (const word of words) {
    const place = [name.startsWith(word), name.includes(word), about.includes(word), text.includes(word), sql.includes(word)].indexOf(true);
    if (place < 0) {
      return null;
    }
    worst = Math.max(worst, place);
  }
  return worst;
}

function showFound() {
  const words = palette.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
  const places = ["", "", "", "in its rules or inputs", "in its SQL"];
  const fitting = (found ?? [])
    .map((entry) => ({ entry, rank: rank(entry, words) }))
    .filter((f) => f.rank !== null)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, 60);
  palette.querySelector("ul").replaceChildren(
    ...fitting.map(({ entry, rank: r }, i) =>
      element(
        "li",
        { ":role": "option", ":aria-selected": i === 0 ? "true" : "false" },
        element("a", { href: root + entry.path, tabIndex: -1 }, element("span", { className: "kind", textContent: entry.kind }), " ", element("b", { textContent: entry.name }), " ", element("span", { className: "quiet", textContent: places[r] || entry.about || "" })),
      ),
    ),
  );
  if (fitting.length === 0 && found) {
    palette.querySelector("ul").replaceChildren(element("li", { className: "quiet", textContent: "No matches." }));
  }
}

palette.querySelector("input").addEventListener("input", showFound);
palette.addEventListener("keydown", (event) => {
  const options = [...palette.querySelectorAll("[role=option]")];
  const at = options.findIndex((o) => o.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && options.length > 0) {
    event.preventDefault();
    const next = (at + step + options.length) % options.length;
    options[at]?.setAttribute("aria-selected", "false");
    options[next].setAttribute("aria-selected", "true");
    options[next].scrollIntoView({ block: "nearest" });
  } else if (event.key === "Enter" && at >= 0) {
    event.preventDefault();
    options[at].querySelector("a").click();
    palette.close();
  }
});
palette.addEventListener("click", (event) => event.target === palette && palette.close());

document.getElementById("find").addEventListener("click", openPalette);
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if ((event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping && !document.querySelector("dialog[open]"))) {
    event.preventDefault();
    openPalette();
  }
});
