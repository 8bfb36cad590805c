// The parts that all pages of the application share: the caller, errors in the project's
// files, and the served release.
"use strict";

const byID = (id) => document.getElementById(id);

// In a narrow window, the contents would fill the screen.
const isNarrow = matchMedia("(max-width: 50rem)").matches;
if (isNarrow) {
  byID("contents").open = false;
  byID("pages").open = false;
}

// The place of the page, in the middle of the contents. scrollIntoView would scroll the page too.
const here = document.querySelector("aside .here");
if (here) {
  const contents = here.closest("aside");
  contents.scrollTop = here.offsetTop - contents.clientHeight / 2;
}

// The caller.
function showCaller() {
  byID("who").textContent = caller.label();
  for (const place of document.querySelectorAll(".who")) {
    place.textContent = caller.label();
  }
  byID("be-anonymous").disabled = caller.get() === null;
  byID("caller-problem").textContent = "";
}
document.addEventListener("caller", showCaller);
showCaller();

function close() {
  byID("caller").open = false;
}

document.addEventListener("click", (event) => {
  if (!byID("caller").contains(event.target)) {
    close();
  }
  if (isNarrow && !byID("pages").contains(event.target)) {
    byID("pages").open = false;
  }
});

byID("be-anonymous").addEventListener("click", () => {
  caller.set(null);
  close();
});

byID("use-token").addEventListener("submit", (event) => {
  event.preventDefault();
  caller.useToken(event.target.elements.token.value.trim());
  event.target.reset();
  close();
});

byID("sign-in")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const sent = new URLSearchParams(new FormData(form));
  sent.set("grant_type", "password");
  try {
    const response = await fetch(root + "auth/token", { method: "POST", body: sent });
    const answer = await response.json();
    if (!response.ok) {
      throw new Error(answer.error_description ?? answer.error ?? answer.message);
    }
    const label = form.elements.username.value;
    caller.useToken(answer.access_token);
    caller.set({ ...caller.get(), label });
    form.reset();
    close();
  } catch (e) {
    byID("caller-problem").textContent = e.message;
  }
});

// A search for identities.
byID("pick-identity")?.addEventListener("submit", (event) => event.preventDefault());
byID("pick-identity")?.addEventListener("input", showIdentities);
byID("caller").addEventListener("toggle", () => hasRows && byID("caller").open && showIdentities());

async function showIdentities() {
  const text = byID("pick-identity").elements.text.value.trim();
  const list = byID("identities");
  try {
    const [byEmail, byExactID] = await Promise.all([
      ask("rows", { model: "Identity", where: text ? { email: { contains: text } } : {}, order: "email", size: 8 }),
      text ? ask("rows", { model: "Identity", where: { id: { equals: text } } }) : { rows: [] },
    ]);
    if (text !== byID("pick-identity").elements.text.value.trim()) {
      return; // the text has changed
    }
    const rows = [...byExactID.rows, ...byEmail.rows];
    const known = rows.map((row) => row.email ?? row.name ?? row.id);
    list.replaceChildren(
      ...rows.map((row, i) => {
        // Several identities may have one address: one by password, and others of providers.
        const alike = rows.filter((other, j) => known[j] === known[i] && other.id !== row.id);
        const isOfOne = alike.some((other) => other.issuer === row.issuer);
        const label = alike.length === 0 ? known[i] : `${known[i]} (${isOfOne ? row.id : (row.issuer ?? row.id)})`;
        const button = element("button", { type: "button", textContent: label, title: row.id });
        button.addEventListener("click", async () => {
          try {
            await caller.be(row.id, label);
            close();
          } catch (e) {
            byID("caller-problem").textContent = e.message;
          }
        });
        return element("li", {}, button);
      }),
    );
    if (rows.length === 0) {
      list.replaceChildren(element("li", { className: "quiet", textContent: text ? "no matching identity" : "no identities yet" }));
    }
  } catch (e) {
    byID("caller-problem").textContent = e.message;
  }
}

// The state of the project's files, requested while the page is visible.
const shownRelease = document.querySelector("header").dataset.release;

async function showState() {
  if (document.hidden) {
    return;
  }
  try {
    const state = await ask("state");
    byID("trouble").hidden = state.trouble === "";
    byID("trouble-release").textContent = state.release;
    const pre = byID("trouble").querySelector("pre");
    if (pre.textContent !== state.trouble) {
      pre.textContent = state.trouble;
    }
    byID("newer").hidden = String(state.release) === shownRelease;
  } catch {
    // the server restarts
  }
}

byID("newer").querySelector("button").addEventListener("click", () => location.reload());
if (hasRows) {
  showState();
  setInterval(showState, 2000);
  document.addEventListener("visibilitychange", showState);
}
