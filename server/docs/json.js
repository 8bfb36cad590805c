// JSON whose numbers keep their digits.
"use strict";

/** indented breaks JSON into indented lines. Numbers keep their digits. */
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
    if (/\s/.test(c)) {
      continue;
    }
    if (c === '"') {
      quoted = true;
      out += c;
    } else if (c === "{" || c === "[") {
      const rest = /^\s*[}\]]/.exec(text.slice(i + 1, i + 200));
      if (rest) {
        out += c + rest[0].trim();
        i += rest[0].length;
      } else {
        depth++;
        out += c + line();
      }
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

/** Digits is a number with the digits of its JSON. */
class Digits {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
}

/** parsed reads JSON with numbers as Digits. Older browsers do not give the digits of the source. */
function parsed(text) {
  return JSON.parse(text, (_, value, context) => (typeof value === "number" ? new Digits(context?.source ?? String(value)) : value));
}

/** written writes a value of parsed as JSON. */
function written(value) {
  if (value instanceof Digits) {
    return value.text;
  }
  if (Array.isArray(value)) {
    return "[" + value.map(written).join(",") + "]";
  }
  if (value !== null && typeof value === "object") {
    return "{" + Object.entries(value).map(([name, v]) => JSON.stringify(name) + ":" + written(v)).join(",") + "}";
  }
  return JSON.stringify(value);
}

/** element makes an element with properties, attributes after a colon, and children. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (key.startsWith(":")) {
      made.setAttribute(key.slice(1), value === true ? "" : value);
    } else {
      made[key] = value;
    }
  }
  made.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return made;
}
