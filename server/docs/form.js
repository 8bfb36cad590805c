// A form with a field for each input of an action, made from the server's description of
// the input. Each part returns its typed value as JSON, and can be filled with a value.
"use strict";

/**
 * A part of a form: its element; read, which returns JSON, or undefined if it is empty; and fill.
 * @typedef {{element: HTMLElement, read: () => string | undefined, fill: (value: any) => void}} Part
 */

/** sizeText writes a number of bytes with its unit. */
function sizeText(bytes) {
  const units = ["B", "KB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < units.length - 1; unit++) {
    bytes /= 1000;
  }
  return `${Math.round(bytes * 10) / 10} ${units[unit]}`;
}

/** partOf makes the part of a node. context tells the models of ids. */
function partOf(node, path, context) {
  const make = { object: objectPart, filter: filterPart, order: orderPart, list: listPart, file: filePart, json: jsonPart, boolean: choicePart, enum: choicePart }[node.kind] ?? textPart;
  return make(node, path, context);
}

/** The kinds whose fields need no text about their type. */
const saysEnough = new Set(["object", "filter", "enum", "boolean", "text", "lines", "date", "file", "id"]);

/** labelled makes a part with the name of its node as its label. */
function labelled(node, path, part, required = node.required) {
  if (part.only) {
    const { node: inner, part: innerPart } = part.only;
    return labelled({ ...inner, name: node.name + "." + inner.name }, below(path, inner.name), innerPart, required && inner.required);
  }
  const isGroup = node.kind === "object" || (node.kind === "list" && node.item.kind === "object");
  const name = element("span", { className: "name" }, node.name, required ? element("b", { textContent: " *", title: "required" }) : null);
  const about = [node.doc, saysEnough.has(node.kind) ? "" : node.type].filter(Boolean).join(" · ");
  const row = element(isGroup ? "fieldset" : "div", { className: "field", ":data-path": path });
  if (isGroup) {
    row.append(element("legend", {}, name), part.element);
  } else {
    const id = "field-" + path.replace(/\W/g, "-");
    const control = part.element.matches("input, select, textarea") ? part.element : part.element.querySelector("input, select, textarea");
    if (control) {
      control.id = id;
    }
    row.append(element("label", { htmlFor: id }, name), part.element);
  }
  if (about) {
    row.append(element("small", { textContent: about }));
  }
  return row;
}

/** below is the path of a member. */
const below = (path, name) => (path ? path + "." + name : name);

function objectPart(node, path, context) {
  const parts = (node.members ?? []).map((m) => ({ node: m, part: partOf(m, below(path, m.name), context) }));
  const box = element("div", { className: "members" }, ...parts.map(({ node: m, part }) => labelled(m, below(path, m.name), part)));
  const nothing = nullBox(node);
  if (nothing) {
    box.prepend(nothing.element);
  }
  return {
    element: box,
    only: parts.length === 1 && !nothing && path !== "" ? parts[0] : undefined, // shown without a frame
    read() {
      if (nothing?.isNull()) {
        return "null";
      }
      const members = [];
      for (const { node: m, part } of parts) {
        const value = part.read();
        if (value !== undefined) {
          members.push(JSON.stringify(m.name) + ":" + value);
        }
      }
      return members.length > 0 || node.required ? "{" + members.join(",") + "}" : undefined;
    },
    fill(value) {
      nothing?.set(value === null);
      for (const { node: m, part } of parts) {
        part.fill(value?.[m.name]);
      }
    },
  };
}

/** nullBox makes the checkbox for null; null if the value cannot be null. */
function nullBox(node) {
  if (!node.nullable) {
    return null;
  }
  const box = element("input", { type: "checkbox" });
  return {
    element: element("label", { className: "null" }, box, " null"),
    isNull: () => box.checked,
    set: (is) => (box.checked = is),
    box,
  };
}

/** withNull puts the checkbox for null beside a control. A ticked one disables the control. */
function withNull(node, control, part) {
  const nothing = nullBox(node);
  if (!nothing) {
    return { ...part, element: control };
  }
  const show = () => (control.disabled = nothing.isNull());
  nothing.box.addEventListener("change", show);
  return {
    element: element("span", { className: "with-null" }, control, nothing.element),
    read: () => (nothing.isNull() ? "null" : part.read()),
    fill(value) {
      nothing.set(value === null);
      part.fill(value ?? undefined);
      show();
    },
  };
}

let lists = 0; // the number of lists of proposals, for their ids

function textPart(node, path, context) {
  const types = { date: "date", password: "password", number: "text", integer: "text" };
  const control = node.kind === "lines" ? element("textarea", { rows: 3 }) : element("input", { type: types[node.kind] ?? "text" });
  control.autocomplete = "off";
  const examples = { "date-time": "2026-03-31T09:00:00Z", duration: "PT1H30M", period: "last 7 days", number: "1.5", integer: "1" };
  control.placeholder = examples[node.kind] ?? "";
  if (node.kind === "number" || node.kind === "integer") {
    control.inputMode = "decimal";
  }
  if (node.most) {
    control.maxLength = node.most;
  }
  const wrapper = node.kind === "id" && context.ids?.[path.replace(/\.\d+(?=\.|$)/g, "").replace(/\.(equals|notEquals|oneOf)$/, "")];
  let box = control;
  if (wrapper) {
    box = element("span", { className: "picker" }, control, proposals(control, wrapper));
  }
  return withNull(node, box, {
    read() {
      const text = control.value;
      if (text === "" && !(node.required && (node.kind === "text" || node.kind === "lines") && !node.least)) {
        return undefined;
      }
      const isNumber = (node.kind === "number" || node.kind === "integer") && /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text.trim());
      return isNumber ? text.trim() : JSON.stringify(text);
    },
    fill(value) {
      control.value = value === undefined || value === null ? "" : typeof value === "object" && !(value instanceof Digits) ? written(value) : String(value);
    },
  });
}

/** proposals lists rows of a model by their labels while an id is typed, and says the label of the chosen one. */
function proposals(control, model) {
  const list = element("datalist", { id: "rows-" + ++lists });
  control.setAttribute("list", list.id);
  control.placeholder = "id of " + model;
  let latest = 0;
  const chosen = element("output", { className: "quiet" });
  const propose = async () => {
    const asked = ++latest;
    const choice = [...list.options].find((o) => o.value === control.value);
    chosen.textContent = choice && choice.textContent !== choice.value ? choice.textContent : "";
    if (choice) {
      return;
    }
    try {
      const shape = await shapeOf(model);
      const text = control.value.trim();
      const where = text && shape.label !== "id" ? { [shape.label]: { contains: text } } : {};
      const page = await ask("rows", { model, where, order: shape.label, size: 12 });
      if (asked === latest) {
        list.replaceChildren(...page.rows.map((row) => element("option", { value: row.id, textContent: row[shape.label] ?? row.id })));
      }
    } catch {
      // no proposals
    }
  };
  control.addEventListener("focus", propose);
  control.addEventListener("input", propose);
  return element("span", {}, list, chosen);
}

let shapes = null; // of the models, requested once

/** shapeOf returns the description of a model. */
async function shapeOf(model) {
  shapes ??= ask("models");
  return (await shapes).find((m) => m.name === model);
}

/** rowOf returns a row, with the labels of the rows that it leads to. */
async function rowOf(model, id) {
  const { rows, labels } = await ask("rows", { model, where: { id: { equals: id } } });
  if (rows.length === 0) {
    throw new Error(`${model} has no row with the id ${id}`);
  }
  return { values: rows[0], labels };
}

function choicePart(node) {
  const values = node.kind === "boolean" ? ["true", "false"] : (node.values ?? []);
  const control = element("select", {}, element("option", { value: "", textContent: node.required ? "choose" : "–" }), ...values.map((v) => element("option", { value: v, textContent: v })));
  return withNull(node, control, {
    read: () => (control.value === "" ? undefined : node.kind === "boolean" ? control.value : JSON.stringify(control.value)),
    fill: (value) => (control.value = value === undefined || value === null ? "" : String(value)),
  });
}

function jsonPart(node) {
  const control = element("textarea", { rows: 3, placeholder: "JSON", spellcheck: false });
  return {
    element: control,
    read() {
      if (control.value.trim() === "") {
        return undefined;
      }
      parsed(control.value); // throws if it is not JSON
      return control.value;
    },
    fill: (value) => (control.value = value === undefined ? "" : indented(written(value))),
  };
}

function filterPart(node, path, context) {
  const box = element("div", { className: "filter" });
  const rows = [];
  const add = (operator) => {
    const choice = element("select", { ":aria-label": "operator of " + node.name }, ...node.members.map((m) => element("option", { value: m.name, textContent: m.name })));
    const place = element("span", {});
    const remove = element("button", { type: "button", textContent: "×", ":aria-label": "remove this operator" });
    const row = { element: element("div", { className: "operator" }, choice, place, remove), part: null, operator: choice };
    const show = () => {
      const member = node.members.find((m) => m.name === choice.value);
      row.part = partOf({ ...member, required: true }, below(path, member.name), context);
      place.replaceChildren(row.part.element);
    };
    choice.value = operator ?? node.members.find((m) => !rows.some((r) => r.operator.value === m.name))?.name;
    show();
    choice.addEventListener("change", show);
    remove.addEventListener("click", () => {
      rows.splice(rows.indexOf(row), 1);
      row.element.remove();
    });
    rows.push(row);
    more.before(row.element);
    return row;
  };
  const more = element("button", { type: "button", className: "add", textContent: "+ filter" });
  more.addEventListener("click", () => rows.length < node.members.length && add().element.querySelector("input, textarea")?.focus());
  box.append(more);
  return {
    element: box,
    read() {
      const members = rows.map((r) => [r.operator.value, r.part.read()]).filter(([, value]) => value !== undefined);
      return members.length > 0 ? "{" + members.map(([name, value]) => JSON.stringify(name) + ":" + value).join(",") + "}" : undefined;
    },
    fill(value) {
      for (const row of rows.splice(0)) {
        row.element.remove();
      }
      for (const [name, v] of Object.entries(value ?? {})) {
        if (node.members.some((m) => m.name === name)) {
          add(name).part.fill(v);
        }
      }
    },
  };
}

function orderPart(node) {
  const field = element("select", { ":aria-label": "field" }, ...node.members.map((m) => element("option", { value: m.name, textContent: m.name })));
  const direction = element("select", { ":aria-label": "direction" }, element("option", { value: "asc", textContent: "asc" }), element("option", { value: "desc", textContent: "desc" }));
  return {
    element: element("span", { className: "order" }, field, direction),
    read: () => `{${JSON.stringify(field.value)}:"${direction.value}"}`,
    fill(value) {
      const [[name, way] = []] = Object.entries(value ?? {});
      field.value = name ?? node.members[0].name;
      direction.value = way ?? "asc";
    },
  };
}

function listPart(node, path, context) {
  if (node.item.kind === "file") {
    return filePart({ ...node.item, name: node.name, required: node.required, nullable: node.nullable, several: true, most: node.most }, path, context);
  }
  const box = element("div", { className: "list" });
  const rows = [];
  const nothing = nullBox(node);
  const more = element("button", { type: "button", className: "add", textContent: "+ entry" });
  const add = () => {
    const part = partOf({ ...node.item, name: node.name, required: true }, path + "." + rows.length, context);
    const remove = element("button", { type: "button", textContent: "×", ":aria-label": "remove this entry" });
    const row = { part, element: element("div", { className: "entry" }, part.element, remove) };
    remove.addEventListener("click", () => {
      rows.splice(rows.indexOf(row), 1);
      row.element.remove();
    });
    rows.push(row);
    more.before(row.element);
    return row;
  };
  more.addEventListener("click", () => add().element.querySelector("input, select, textarea")?.focus());
  box.append(more, ...(nothing ? [nothing.element] : []));
  for (let i = 0; i < (node.required ? (node.least ?? 0) : 0); i++) {
    add();
  }
  return {
    element: box,
    read() {
      if (nothing?.isNull()) {
        return "null";
      }
      const values = rows.map((r) => r.part.read()).filter((v) => v !== undefined);
      return values.length > 0 || node.required ? "[" + values.join(",") + "]" : undefined;
    },
    fill(value) {
      nothing?.set(value === null);
      for (const row of rows.splice(0)) {
        row.element.remove();
      }
      for (const v of value ?? []) {
        add().part.fill(v);
      }
    },
  };
}

/** accepts tells whether a pattern accepts a type. No patterns accept all types. */
function accepts(patterns, type) {
  return !patterns?.length || patterns.some((p) => p === type || p === "*/*" || (p.endsWith("/*") && type.startsWith(p.slice(0, -1))));
}

/** inlineLimit is the size, in bytes, of the largest file that is sent within the request. */
const inlineLimit = 3_000_000;

function filePart(node, path, context) {
  const control = element("input", { type: "file", multiple: node.several === true, accept: (node.accepts ?? []).join(",") });
  const note = element("small", { textContent: [node.accepts?.join(", "), node.maxSize ? "at most " + sizeText(node.maxSize) : ""].filter(Boolean).join(" · ") });
  const kept = element("output", { className: "quiet" });
  const nothing = nullBox(node);
  let values = []; // texts: keys of uploads, or data URLs
  let reading = null;
  const show = (text, isProblem) => {
    kept.textContent = text;
    kept.className = isProblem ? "problem" : "quiet";
  };
  const take = async (files) => {
    values = [];
    for (const file of files) {
      if (!accepts(node.accepts, file.type)) {
        throw new Error(`${file.name} has ${file.type ? "the type " + file.type : "an unknown type"}; this input accepts ${node.accepts.join(" or ")}`);
      }
      if (node.maxSize && file.size > node.maxSize) {
        throw new Error(`${file.name} has ${file.size.toLocaleString("en")} bytes; this input accepts at most ${node.maxSize.toLocaleString("en")}`);
      }
      values.push(file.size > inlineLimit && node.upload ? await upload(file, node.upload, context) : await dataURL(file));
    }
    show(values.length > 0 ? values.map((v) => (v.startsWith("data:") ? "inline" : "uploaded")).join(", ") : "", false);
  };
  control.addEventListener("change", () => {
    show("…", false);
    reading = take([...control.files]).catch((e) => {
      values = [];
      control.value = "";
      show(e.message, true);
    });
  });
  context.waits?.push(() => reading);
  return {
    element: element("span", { className: "file" }, control, nothing?.element, note, kept),
    read() {
      if (nothing?.isNull()) {
        return "null";
      }
      if (node.several) {
        return values.length > 0 || node.required ? JSON.stringify(values) : undefined;
      }
      return values.length > 0 ? JSON.stringify(values[0]) : undefined;
    },
    fill(value) {
      nothing?.set(value === null);
      control.value = "";
      const texts = (Array.isArray(value) ? value : [value]).filter((v) => v !== undefined && v !== null);
      values = texts.map((v) => (typeof v === "string" ? v : v.key)).filter(Boolean);
      show(texts.map((v) => v.filename ?? "a file from the JSON").join(", "), false);
    },
  };
}

/** dataURL writes a file as a data URL with its name. */
function dataURL(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(`data:${file.type || "application/octet-stream"};name=${encodeURIComponent(file.name)};base64,${reader.result.slice(reader.result.indexOf(",") + 1)}`);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** upload sends a file before the call and returns its key. */
async function upload(file, field, context) {
  const minted = await call(`${context.path}/upload/${field}`, JSON.stringify({ filename: file.name, contentType: file.type || "application/octet-stream", size: file.size }));
  const answer = JSON.parse(minted.text);
  if (!minted.ok) {
    throw new Error(`the server refused the upload of ${file.name}: ${answer.message}`);
  }
  const { "Content-Length": _, ...headers } = answer.headers; // browsers send it themselves
  const put = await fetch(answer.url, { method: "PUT", headers, body: file });
  if (!put.ok) {
    throw new Error(`the storage refused ${file.name} with status ${put.status}`);
  }
  return answer.key;
}

/** showErrors shows each error beside its field, and returns the errors without a field here. */
function showErrors(box, errors) {
  clearErrors(box);
  const rest = [];
  for (const { field, error } of errors) {
    const path = field.replace(/\[(\d+)\]/g, ".$1");
    const places = [...box.querySelectorAll("[data-path]")].filter((p) => path === p.dataset.path || path.startsWith(p.dataset.path + "."));
    const place = places.at(-1);
    if (place) {
      place.classList.add("wrong");
      place.append(element("small", { className: "problem", textContent: path === place.dataset.path ? error : `${path}: ${error}` }));
    } else {
      rest.push(field ? `${field}: ${error}` : error);
    }
  }
  return rest;
}

function clearErrors(box) {
  box.querySelectorAll(".wrong").forEach((w) => w.classList.remove("wrong"));
  box.querySelectorAll("small.problem").forEach((p) => p.remove());
}
