// The caller: anonymous, an identity, or the identity of an access token. The browser keeps
// it until the tab is closed.
"use strict";

const root = document.querySelector("header").dataset.root;
const hasRows = "rows" in document.querySelector("header").dataset;

/** ask asks a question that is answered in development only. It throws a refusal. */
async function ask(question, input = {}) {
  const response = await fetch(`${root}docs/data/${question}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(input),
  });
  const answer = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(answer.message), { field: answer.data?.errors?.[0]?.field });
  }
  return answer;
}

const caller = {
  key: "sternpost.caller",
  /** get returns the caller: null is anonymous. */
  get() {
    return JSON.parse(sessionStorage.getItem(this.key));
  },
  set(value) {
    sessionStorage.setItem(this.key, JSON.stringify(value));
    document.dispatchEvent(new Event("caller"));
  },
  /** be makes an identity the caller: in development, without its password. */
  async be(identity, label) {
    const made = await ask("token", { identity });
    this.set({ id: identity, label, token: made.token, until: made.expires });
  },
  /** headers returns the headers that name the caller. */
  async headers() {
    let known = this.get();
    if (known?.until && known.until < Date.now() + 60_000) {
      await this.be(known.id, known.label);
      known = this.get();
    }
    return known ? { Authorization: "Bearer " + known.token } : {};
  },
  /** label returns the name of the caller. */
  label() {
    const known = this.get();
    return known ? known.label : "anonymous";
  },
  /** useToken makes the identity of a token the caller. The token is not checked here. */
  useToken(token) {
    let id = "";
    try {
      id = JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"))).sub;
    } catch {
      // for example an API key
    }
    this.set({ id, label: id ? "identity " + id : "an access token", token });
  },
};

/** call calls an action as the caller and returns the response with its text. */
async function call(path, body) {
  const began = performance.now();
  const response = await fetch(root + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(await caller.headers()) },
    body,
  });
  const text = await response.text();
  return { ok: response.ok, status: response.status, text, took: Math.round(performance.now() - began) };
}
