// The rows of a model: all of them, as the owner of the database sees them, or the rows that
// a list returns to the caller. The address has the state of the view.
"use strict";

const place = document.getElementById("data");
const model = place.dataset.model;
const problem = document.getElementById("rows-problem");
const pageOf = (name, query = {}) => `${root}docs/rows/${name}?${new URLSearchParams(query)}`;
let shape; // of the model
let next = null; // the start of the next page
let listForm = null; // of the shown list
let looks = 0; // the number of views so far, to drop late responses

/** view reads the state of the view from the address. */
function view() {
  const query = new URLSearchParams(location.search);
  return {
    source: query.get("source") ?? (caller.get() && query.size === 0 ? ownList() : ""),
    where: JSON.parse(query.get("where") ?? "{}"),
    order: query.get("order") ?? "",
    after: JSON.parse(query.get("after") ?? "null"),
    input: query.get("input") ?? "{}",
    id: query.get("id"),
  };
}

/** ownList is the first list of the model; empty if it has none. */
function ownList() {
  return place.querySelector('[data-source]:not([data-source=""])')?.dataset.source ?? "";
}

/** go changes the view. The browser can go back. */
function go(change) {
  const changed = { ...view(), ...change };
  const query = new URLSearchParams();
  query.set("source", changed.source);
  if (changed.source) {
    query.set("input", changed.input);
  } else {
    if (Object.keys(changed.where).length > 0) {
      query.set("where", JSON.stringify(changed.where));
    }
    if (changed.order) {
      query.set("order", changed.order);
    }
  }
  if (changed.after) {
    query.set("after", JSON.stringify(changed.after));
  }
  if (changed.id) {
    query.set("id", changed.id);
  }
  history.pushState(null, "", "?" + query);
  return show();
}

function say(text) {
  problem.textContent = text;
  problem.hidden = text === "";
}

const inWords = { equals: "is", notEquals: "is not", lessThan: "<", lessThanOrEquals: "≤", greaterThan: ">", greaterThanOrEquals: "≥", startsWith: "starts with", endsWith: "ends with", onOrBefore: "on or before", onOrAfter: "on or after" };

/** choices are the operators of a field, by their texts: functions that make a filter of a value, or one without. */
function choices(field) {
  const made = {};
  for (const name of field.filters ?? []) {
    const text = inWords[name] ?? name;
    made[field.isArray ? "any " + text : text] = (value) => (field.isArray ? { any: { [name]: value } } : { [name]: value });
  }
  made["is null"] = () => ({ equals: null });
  made["is not null"] = () => ({ notEquals: null });
  return made;
}

/** inText says what a filter of a field does. */
function inText(filter) {
  const [name, value] = Object.entries(filter)[0];
  return name === "any" ? "any " + inText(value) : `${inWords[name] ?? name} ${value}`;
}

/** showFilters shows the filters of the table, each with a button to remove it, and a form for another. */
function showFilters() {
  const { source, where } = view();
  const form = document.getElementById("filters");
  form.hidden = source !== "";
  const chips = Object.entries(where).flatMap(([name, filters]) =>
    Object.entries(filters).map(([operator, operand]) => {
      const drop = element("button", { type: "button", textContent: "×", ":aria-label": `remove the filter on ${name}` });
      const { [operator]: _, ...others } = filters;
      drop.addEventListener("click", () => go({ where: { ...where, [name]: others }, after: null }));
      return element("span", { className: "chip" }, `${name} ${inText({ [operator]: operand })} `, drop);
    }),
  );
  const fields = shape.fields.filter((f) => f.shown);
  const field = element("select", { name: "field", ":aria-label": "field" }, ...fields.map((f) => element("option", { value: f.name, textContent: f.name })));
  const operator = element("select", { name: "operator", ":aria-label": "operator" });
  const value = element("span", {});
  const showOperators = () => {
    const of = fields.find((f) => f.name === field.value);
    operator.replaceChildren(...Object.keys(choices(of)).map((text) => element("option", { textContent: text })));
    showValue();
  };
  const showValue = () => {
    const of = fields.find((f) => f.name === field.value);
    const input = of.values
      ? element("select", { name: "value", ":aria-label": "value" }, ...of.values.map((v) => element("option", { value: v, textContent: v })))
      : of.type === "Boolean"
        ? element("select", { name: "value", ":aria-label": "value" }, element("option", { textContent: "true" }), element("option", { textContent: "false" }))
        : element("input", { name: "value", type: of.type === "Date" ? "date" : "text", ":aria-label": "value", autocomplete: "off", placeholder: of.type });
    value.replaceChildren(...(/ null$/.test(operator.value) ? [] : [input]));
  };
  field.addEventListener("change", showOperators);
  operator.addEventListener("change", showValue);
  showOperators();
  form.replaceChildren(...chips, field, operator, value, element("button", { textContent: "Filter" }));
  form.onsubmit = (event) => {
    event.preventDefault();
    const filter = choices(fields.find((f) => f.name === field.value))[operator.value](form.elements.value?.value ?? "");
    go({ where: { ...where, [field.value]: { ...where[field.value], ...filter } }, after: null });
  };
}

/** show shows the view of the address. */
async function show() {
  const v = view();
  const own = ++looks;
  if (!v.id) {
    document.getElementById("row").close();
  }
  say("");
  document.getElementById("explanation").hidden = true;
  for (const tab of place.querySelectorAll("[data-source]")) {
    tab.setAttribute("aria-selected", String(tab.dataset.source === v.source));
  }
  document.getElementById("new-row").hidden = v.source !== "";
  document.getElementById("first-page").disabled = !v.after;
  showFilters();
  showListInput(v);
  try {
    await (v.source ? showList(v) : showTable(v));
  } catch (e) {
    if (own === looks) {
      showRows([], []);
      say(e.message);
    }
  }
  if (own !== looks) {
    return; // the view has changed
  }
  document.getElementById("next-page").disabled = !next;
  if (v.id) {
    await showRow(v.id);
  }
}

/** counted says a number of rows, of which the server counts no more than one above 10,000. */
function counted(count) {
  return count > 10000 ? "more than 10,000 rows" : count === 1 ? "1 row" : count.toLocaleString("en") + " rows";
}

/** showTable shows rows of the table. */
async function showTable({ where, order, after }) {
  const own = looks;
  next = null;
  const page = await ask("rows", { model, where, order, after });
  if (own !== looks) {
    return;
  }
  next = page.next;
  document.getElementById("count").textContent = counted(page.count);
  showRows(shape.fields, page.rows, page.labels, order);
}

/** showListInput shows a form for the input of a list. */
function showListInput({ source, input }) {
  const form = document.getElementById("list-input");
  form.hidden = source === "";
  if (source === "" || form.dataset.source === source) {
    return;
  }
  form.dataset.source = source;
  const tab = place.querySelector(`[data-source="${source}"]`);
  const node = JSON.parse(tab.dataset.form);
  const context = { ids: shape.actions.find((a) => a.name === source)?.ids ?? {}, waits: [] };
  const shown = { ...node, required: true, members: node.members?.filter((m) => ["where", "orderBy", "first"].includes(m.name)) };
  listForm = partOf(shown, "", context);
  listForm.fill(parsed(input));
  const inputs = element("details", { open: input !== "{}" }, element("summary", { textContent: "Inputs of " + source }), listForm.element, element("button", { className: "main", textContent: "List" }));
  form.replaceChildren(inputs);
  form.onsubmit = (event) => {
    event.preventDefault();
    go({ input: listForm.read() ?? "{}", after: null });
  };
}

/** showList shows the rows that a list returns to the caller. */
async function showList({ source, input, after }) {
  next = null;
  const path = place.querySelector(`[data-source="${source}"]`).dataset.path;
  const sent = parsed(input);
  if (after) {
    sent.after = after;
  }
  const own = looks;
  const answer = await call(path, written(sent));
  if (own !== looks) {
    return;
  }
  const text = answer.text;
  if (!answer.ok) {
    showRows([], []);
    const refused = JSON.parse(text);
    const entries = (refused.data?.errors ?? []).map((e) => `${e.field}: ${e.error}`).join("; ");
    say(`${answer.status}: ${entries || refused.message}. `);
    const why = element("button", { type: "button", className: "link", textContent: "Explain why" });
    why.addEventListener("click", () => explainList(source, sent));
    problem.append(why);
    document.getElementById("count").textContent = "";
    return;
  }
  const page = parsed(text);
  next = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  document.getElementById("count").textContent = page.results.length === 1 ? "1 record on this page" : `${page.results.length} records on this page`;
  const names = page.results.length > 0 ? Object.keys(page.results[0]) : shape.fields.filter((f) => !f.hidden).map((f) => f.name);
  showRows(names.map((name) => shape.fields.find((f) => f.name === name) ?? { name, shown: true, isRecord: true }), page.results);
}

async function explainList(source, input) {
  const pre = document.getElementById("explanation");
  try {
    pre.textContent = (await ask("explain", { action: source, as: caller.get()?.id ?? "", input: JSON.parse(written(input)) })).text;
  } catch (e) {
    pre.textContent = e.message;
  }
  pre.hidden = false;
}

/** hiddenMark marks a field that clients never see. */
function hiddenMark(f) {
  return f.hidden ? [" ", element("small", { textContent: "hidden", title: "Records do not show this field, and lists cannot filter by it." })] : [];
}

/** showRows fills the table. */
function showRows(fields, rows, labels = {}, order = "") {
  const table = document.getElementById("rows");
  const head = fields.map((f) => {
    const isDescending = order === "-" + f.name;
    const sign = order === f.name ? " ↑" : isDescending ? " ↓" : "";
    if (!f.sorts || !f.shown || view().source) {
      return element("th", {}, f.name, ...hiddenMark(f));
    }
    const sort = element("button", { type: "button", className: "link", textContent: f.name + sign });
    sort.addEventListener("click", () => go({ order: order === f.name ? "-" + f.name : isDescending ? "" : f.name, after: null }));
    return element("th", { ":aria-sort": sign === "" ? null : isDescending ? "descending" : "ascending" }, sort, ...hiddenMark(f));
  });
  table.tHead.replaceChildren(element("tr", {}, ...head));
  table.tBodies[0].replaceChildren(
    ...rows.map((row) => element("tr", {}, ...fields.map((f) => element("td", {}, cell(f, row[f.name], labels))))),
  );
  if (rows.length === 0) {
    table.tBodies[0].append(element("tr", {}, element("td", { className: "quiet", colSpan: Math.max(1, fields.length), textContent: "no rows" })));
  }
}

/** shortID is an id without its middle. */
function shortID(id) {
  const text = String(id);
  return text.length > 20 ? text.slice(0, 8) + "…" + text.slice(-6) : text;
}

/** cell shows a value. */
function cell(field, value, labels = {}) {
  if (value === null || value === undefined) {
    return element("span", { className: "quiet", textContent: "null" });
  }
  if (!field.shown) {
    return element("span", { className: "quiet", textContent: "is set" });
  }
  if (field.name === "id") {
    const link = element("a", { href: "?" + new URLSearchParams({ id: value }), textContent: shortID(value), title: value, className: "id" });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go({ id: value });
    });
    return link;
  }
  if (field.model) {
    return element("a", { href: pageOf(field.model, { id: value }), title: value, textContent: labels[value] ?? shortID(value), className: labels[value] ? "" : "id" });
  }
  if (field.type?.startsWith("File")) {
    return element("span", {}, ...(Array.isArray(value) ? value : [value]).map(fileOf));
  }
  if (Array.isArray(value)) {
    return element("span", { className: "values", textContent: value.map((v) => (typeof v === "object" && !(v instanceof Digits) ? written(v) : String(v))).join(", ") });
  }
  const text = typeof value === "object" && !(value instanceof Digits) ? written(value) : String(value);
  return element("span", { textContent: text.length > 200 ? text.slice(0, 200) + "…" : text, title: text.length > 200 ? text : "" });
}

/** fileOf shows a file: a picture, or a link with its name. */
function fileOf(file) {
  const link = element("a", { target: "_blank", rel: "noreferrer", textContent: `${file.filename} (${sizeText(Number(String(file.size)))})`, className: "stored" });
  const lead = async () => {
    const { url } = file.url ? file : await ask("file", { key: file.key, filename: file.filename, contentType: file.contentType });
    link.href = url;
    const isInline = url.startsWith("data:"); // browsers do not open it
    link.download = isInline ? file.filename : "";
    if (!isInline) {
      link.removeAttribute("download");
    }
    if (file.contentType.startsWith("image/") && (isInline || new URL(url, location).origin === location.origin)) {
      link.prepend(element("img", { src: url, alt: "" }));
    }
  };
  lead().catch((e) => (link.title = e.message));
  return link;
}

/** showRow shows one row: a form for its values, its related rows, and its actions. */
async function showRow(id) {
  const dialog = document.getElementById("row");
  const own = looks;
  let one, related, signIns;
  try {
    one = await rowOf(model, id);
    signIns = model === "Identity" ? await ask("signIns", { id }) : null;
    related = await Promise.all(shape.relations.map((r) => ask("rows", { model: r.model, where: { [r.field]: { equals: id } }, size: 1 })));
  } catch (e) {
    say(e.message);
    return;
  }
  if (own !== looks) {
    return;
  }
  const about = element("div", { className: "about" });
  for (const f of shape.fields.filter((f) => f.model && one.values[f.name])) {
    about.append(element("p", {}, element("span", { className: "quiet", textContent: f.name.replace(/Id$/, "") + ": " }), cell(f, one.values[f.name], one.labels)));
  }
  shape.relations.forEach((r, i) => {
    about.append(element("p", {}, element("span", { className: "quiet", textContent: r.name + ": " }), element("a", { href: pageOf(r.model, { where: JSON.stringify({ [r.field]: { equals: id } }) }), textContent: `${counted(related[i].count)} of ${r.model}` })));
  });
  if (signIns) {
    const { factors, recoveryCodes } = signIns.factors;
    const line = (name, text) => about.append(element("p", {}, element("span", { className: "quiet", textContent: name + ": " }), text));
    line("second factors", factors.length ? `${factors.map((f) => f.kind).join(", ")}, ${recoveryCodes} recovery codes` : "none");
    signIns.sessions.forEach((s) => line("session", `${s.client ?? "unknown client"}, ${s.address ?? "unknown address"}, last used ${s.usedAt}`));
  }
  const actions = element("p", { className: "buttons" }, ...shape.actions.filter((a) => a.idPath).map((a) => element("a", { className: "button", href: `${root}docs/action/${a.name}?${new URLSearchParams({ id })}`, textContent: a.name })));
  editor(dialog, one.values[shape.label] ?? id, one.values, [about, actions], {
    save: async (values) => ask("change", { model, id, values }),
    remove: async () => ask("change", { model, id }),
  });
}

const typeOf = (f) => f.type + (f.hidden ? ", hidden" : "");

/** editor opens the dialog with a field for each column. */
function editor(dialog, title, row, more, does) {
  const isNew = !does.remove;
  const parts = shape.fields
    .filter((f) => !isNew || f.editable)
    .map((f) => {
      if (!f.editable) {
        return { field: f, element: element("div", { className: "field" }, element("span", { className: "name", textContent: f.name }), cell(f.name === "id" ? { ...f, name: "", shown: true } : f, row[f.name]), element("small", { textContent: typeOf(f) })) };
      }
      const node = nodeOf(f, isNew);
      const part = partOf(node, f.name, { ids: f.model ? { [f.name]: f.model } : {} });
      part.fill(row[f.name]);
      return { field: f, part, element: labelled(node, f.name, part, f.required && !(isNew && f.default)) };
    });
  const wrong = element("p", { className: "problem", ":role": "alert" });
  const form = element("form", { noValidate: true }, element("div", { className: "members" }, ...parts.map((p) => p.element)), wrong);
  const doing = async (work) => {
    try {
      wrong.textContent = "";
      clearErrors(form);
      await work();
      dialog.close();
      await go({ id: null });
    } catch (e) {
      wrong.textContent = showErrors(form, [{ field: e.field ?? "", error: e.message }]).join("; ");
    }
  };
  const values = () => {
    const changed = {};
    for (const { field, part } of parts) {
      if (!part) {
        continue;
      }
      const read = part.read();
      const value = read === undefined ? undefined : plain(parsed(read));
      if (isNew ? value !== undefined : JSON.stringify(value ?? null) !== JSON.stringify(row[field.name] ?? null)) {
        changed[field.name] = value ?? (field.isArray ? [] : null);
      }
    }
    return changed;
  };
  const buttons = element("p", { className: "buttons" }, element("button", { className: "main", textContent: isNew ? "Insert" : "Save" }));
  if (does.remove) {
    const remove = element("button", { type: "button", textContent: "Delete" });
    remove.addEventListener("click", () => confirm(`Delete this row of ${model}? Permission rules do not apply.`) && doing(does.remove));
    buttons.append(remove);
  }
  const close = element("button", { type: "button", textContent: "Close" });
  close.addEventListener("click", () => go({ id: null }));
  buttons.append(close, element("span", { className: "quiet", textContent: "changes the table directly: permission rules do not apply" }));
  form.append(buttons);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    doing(() => does.save(values()));
  });
  dialog.replaceChildren(element("h3", { id: "row-title", textContent: title }), ...more, form);
  dialog.oncancel = (event) => {
    event.preventDefault();
    go({ id: null });
  };
  if (!dialog.open) {
    dialog.showModal();
  }
}

/** plain converts numbers to texts, as the server expects them. */
function plain(value) {
  if (value instanceof Digits) {
    return value.text;
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

/** nodeOf describes a column as a form describes an input. */
function nodeOf(f, isNew) {
  const kinds = { Boolean: "boolean", Number: "integer", Decimal: "number", Date: "date", Timestamp: "date-time", Duration: "duration", Markdown: "lines", Vector: "number" };
  const type = f.type.replace("[]", "");
  const one = { kind: f.model ? "id" : f.values ? "enum" : (kinds[type] ?? "text"), values: f.values };
  const isRequired = f.required && !(isNew && f.default);
  const about = { name: f.name, doc: f.doc, type: typeOf(f) + (isNew && f.default ? ", has a default" : ""), required: isRequired };
  if (f.isArray || type === "Vector") {
    return { ...about, kind: "list", item: one, nullable: !f.required };
  }
  return { ...about, ...one, nullable: !f.required };
}

document.getElementById("first-page").addEventListener("click", () => go({ after: null }));
document.getElementById("next-page").addEventListener("click", () => go({ after: next }));
document.getElementById("new-row").addEventListener("click", () => {
  editor(document.getElementById("row"), "New row of " + model, {}, [], { save: (values) => ask("change", { model, values }) });
});
for (const tab of place.querySelectorAll("[data-source]")) {
  tab.addEventListener("click", () => shape && go({ source: tab.dataset.source, after: null, input: "{}" }));
}
document.addEventListener("caller", () => {
  if (!shape) {
    return; // the first view uses this caller
  }
  // A new caller sees the rows that a list returns to them.
  go({ source: view().source || ownList(), after: null, id: null });
});
addEventListener("popstate", () => shape && show());

shapeOf(model)
  .then((found) => {
    shape = found;
    document.getElementById("new-row").disabled = false;
    return show();
  })
  .catch((e) => say(e.message));
