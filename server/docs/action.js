// The form that tries an action: a field for each input, or the whole input as JSON.
"use strict";

const tryForm = document.getElementById("try");
if (tryForm) {
  tryAction(tryForm);
}

async function tryAction(form) {
  const { action, model, path, kind } = form.dataset;
  const box = form.querySelector("#fields");
  const body = form.elements.body;
  const outcome = form.querySelector(".buttons output");
  const root = JSON.parse(form.dataset.form);
  const context = { path, ids: {}, waits: [] };
  const own = hasRows ? await shapeOf(model).then((shape) => shape?.actions.find((a) => a.name === action), () => undefined) : undefined;
  context.ids = own?.ids ?? {};
  const part = partOf({ ...root, required: true }, "", context);
  box.append(part.element);
  let asJSON = false;

  /** input returns the typed input as JSON. */
  const input = async () => {
    if (asJSON) {
      return body.value;
    }
    await Promise.all(context.waits.map((wait) => wait()));
    return part.read() ?? "{}";
  };
  const fit = () => (body.rows = Math.min(24, Math.max(4, body.value.split("\n").length + 1)));
  const show = async (json) => {
    if (json === asJSON) {
      return;
    }
    try {
      if (json) {
        body.value = indented(await input());
        fit();
      } else {
        part.fill(parsed(body.value || "{}"));
      }
    } catch (e) {
      say(e.message);
      return;
    }
    asJSON = json;
    form.querySelector("#as-form").setAttribute("aria-selected", String(!json));
    form.querySelector("#as-json").setAttribute("aria-selected", String(json));
    box.hidden = json;
    form.querySelector("#json").hidden = !json;
  };
  const say = (text) => {
    const place = form.querySelector("#refused");
    place.textContent = text;
    place.hidden = text === "";
  };
  const fill = (value) => {
    body.value = indented(written(value));
    fit();
    part.fill(value);
    clearErrors(box);
  };
  form.querySelector("#as-form").addEventListener("click", () => show(false));
  form.querySelector("#as-json").addEventListener("click", () => show(true));
  body.addEventListener("input", fit);
  for (const button of form.querySelectorAll("button[data-fill]")) {
    button.addEventListener("click", () => fill(parsed(button.dataset.fill)));
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    say("");
    clearErrors(box);
    form.querySelector(".explanation").hidden = true;
    outcome.textContent = "…";
    try {
      const answer = await call(path, await input());
      outcome.textContent = `${answer.status} in ${answer.took} ms`;
      outcome.className = answer.ok ? "good" : "problem";
      form.querySelector(".answer").textContent = indented(answer.text);
      form.querySelector(".answer").hidden = false;
      if (!answer.ok) {
        refused(JSON.parse(answer.text), answer.status);
      } else if (kind === "get" && answer.text === "null") {
        offer("The response is null. ");
      }
    } catch (e) {
      outcome.textContent = "not sent";
      outcome.className = "problem";
      say(e.message);
    }
  });

  const refused = (answer, status) => {
    const rest = showErrors(box, asJSON ? [] : (answer.data?.errors ?? []));
    say(rest.join("; "));
    if (status === 403 || status === 404 || status === 401) {
      offer(answer.message + ". ");
    }
  };
  /** offer shows a text with a link to the explanation. */
  const offer = (text) => {
    say(text);
    if (form.querySelector("#explain")) {
      const link = element("a", { href: "#explain", textContent: "Explain why" });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        explain();
      });
      form.querySelector("#refused").append(link);
    }
  };

  const explain = async () => {
    const pre = form.querySelector(".explanation");
    try {
      const found = await ask("explain", { action, as: caller.get()?.id ?? "", input: JSON.parse(await input()) });
      pre.textContent = found.text;
    } catch (e) {
      pre.textContent = e.message;
    }
    pre.hidden = false;
    pre.scrollIntoView({ block: "nearest" });
  };
  form.querySelector("#explain")?.addEventListener("click", explain);
  document.addEventListener("caller", () => (form.querySelector(".explanation").hidden = true));

  // The row whose id is in the address.
  const id = new URLSearchParams(location.search).get("id");
  if (id && own?.idPath) {
    try {
      fill(await inputOf(root, own, model, id));
    } catch (e) {
      say(e.message);
    }
  }
}

/** inputOf makes an input from a row: its id and, for an update, its values. */
async function inputOf(root, action, model, id) {
  const made = {};
  put(made, action.idPath, id);
  const values = root.members?.find((m) => m.name === "values");
  if (action.kind === "update" && values) {
    const row = (await rowOf(model, id)).values;
    made.values = valuesOf(values, row);
  }
  return made;
}

function put(object, path, value) {
  const names = path.split(".");
  const last = names.pop();
  for (const name of names) {
    object = object[name] ??= {};
  }
  object[last] = value;
}

/** valuesOf returns the values of a row that have the names of an input's members. */
function valuesOf(node, row) {
  const values = {};
  for (const m of node.members ?? []) {
    if (m.kind === "object" && m.members?.some((inner) => inner.name === "id") && row[m.name + "Id"] !== undefined) {
      values[m.name] = row[m.name + "Id"] === null ? null : { id: row[m.name + "Id"] };
    } else if (row[m.name] !== undefined && m.kind !== "file" && m.item?.kind !== "file") {
      values[m.name] = asInput(m, row[m.name]);
    }
  }
  return values;
}

/** asInput converts a value of a row, whose numbers are texts, to a value of an input. */
function asInput(node, value) {
  if (Array.isArray(value)) {
    return value.map((v) => asInput(node.item ?? node, v));
  }
  return (node.kind === "number" || node.kind === "integer") && typeof value === "string" ? new Digits(value) : value;
}
