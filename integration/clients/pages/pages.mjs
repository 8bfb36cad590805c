// Walks through the pages of the workshop with Chromium and prints what it sees, line
// by line. If SCREENSHOTS names a folder, it leaves pictures of the pages there.
//
//   node pages.mjs <address of the service>

import { browser, open, picture, say, sent } from "./browser.mjs";

const base = process.argv[2];
const { page, outside, complaints } = await open(base);
const see = (name) => page.goto(`${base}/docs/action/${name}`);
const field = (path) => page.locator(`[data-path="${path}"]`).locator("input, select, textarea").first();

/** sendJSON tries an action with an input as JSON. */
async function sendJSON(name, input) {
  await see(name);
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.locator("#json textarea").fill(JSON.stringify(input));
  return sent(page);
}

/** described counts the operations in the description of an API. */
const described = async (api) =>
  Object.values((await (await fetch(`${base}/${api}/json/openapi.json`)).json()).paths).flatMap((path) => Object.keys(path)).length;

// The overview, and a page of each model and action.
await page.goto(base + "/");
await say("title:", () => page.title());
await say("models:", async () => (await page.locator("section.model > h2 > a:first-child").allTextContents()).join(" "));
await say("caller:", () => page.locator("#who").textContent());
await say("diagram:", async () => (await page.locator(".diagram text").allTextContents()).join(" "), () => page.locator(".diagram .link").count(), () => page.locator(".diagram .link title").first().textContent());
await say("to look at:", async () => (await page.locator("#wrong li").allTextContents()).join(" ").slice(0, 60));
await say("padlocks:", async () => (await page.locator(".models li:has(.lock) a").allTextContents()).join(" "));
await picture("application", page);
await page.getByRole("link", { name: "RepairOrder", exact: true }).first().click();
await say("model:", () => page.title(), async () => (await page.locator("main tbody td:first-child").allTextContents()).join(" "));
await say("rules:", async () => (await page.locator("#rules li").allTextContents()).map((t) => t.trim()).join("; "));
await say("relations:", async () => (await page.locator("#relations li").allTextContents()).join("; "));
await say("keys and limits:", async () => (await page.locator("#keys li").allTextContents()).join("; "));
await page.locator("details[data-sql] > summary").click();
await page.waitForFunction(() => document.querySelector("[data-sql] pre").textContent.includes("create policy repair_order_select"));
await picture("model", page);

// A field for each input.
await see("createCustomer");
await field("name").fill("Ada");
await field("email").fill("ada@example.com");
await field("newsletter").selectOption("true");
const made = await sent(page);
await say("create:", made.status, made.answer.name, made.answer.newsletter, made.answer.phone);
const twice = await sent(page);
await say("create again:", twice.status, () => page.locator('[data-path="email"] .problem').textContent());
await picture("action", page);
await page.getByRole("tab", { name: "JSON" }).click();
await say("as JSON:", async () => (await page.locator("#json textarea").inputValue()).replace(/\s+/g, ""));
await page.locator("#json textarea").fill('{"name":"Grace","phone":null}');
await page.getByRole("tab", { name: "Form" }).click();
await say("as a form again:", () => field("name").inputValue(), () => page.locator('[data-path="phone"] [type="checkbox"]').isChecked());
await page.locator("summary", { hasText: "Inputs" }).click();
await say("inputs:", async () => (await page.locator("details[open] tbody tr td:first-child").allTextContents()).join(", "));
await page.locator("summary", { hasText: "SQL" }).click();
await page.waitForFunction(() => document.querySelector("[data-sql] pre").textContent.includes("insert into app.customer"));
const colours = () => page.evaluate(() => [...CSS.highlights].map(([name, ranges]) => `${name} ${ranges.size > 0}`).sort().join(", "));
await say("sql: as it runs,", colours);

await see("listCustomers");
await page.getByRole("button", { name: "All inputs" }).click();
await say("list with all inputs:", (await sent(page)).status);
await page.getByRole("button", { name: "Clear" }).click();
await page.locator('[data-path="where.name"]').getByRole("button", { name: "+ filter" }).click();
await page.getByLabel("operator of name").selectOption("startsWith");
await page.locator('[data-path="where.name"] .operator input').fill("A");
await say("list by a filter:", (await sent(page)).answer.results.map((r) => r.name).join(" "));

// A nested input, with an entry of a list, and a number that keeps its digits.
await see("takeIn");
await page.getByRole("button", { name: "Required inputs" }).click();
await page.getByRole("button", { name: "+ entry" }).click();
await page.locator('[data-path="items.0.what"] input').fill("a chain");
await page.locator('[data-path="items.0.price"] input').fill("12.50");
await page.getByRole("tab", { name: "JSON" }).click();
await say("nested:", async () => (await page.locator("#json textarea").inputValue()).replace(/\s+/g, ""));
await say("nested, sent:", (await sent(page)).status);

// Files: the page refuses a file that the field does not accept, before it sends it.
const bicycle = await sendJSON("listBicycles", {});
await see("photographBicycle");
await say("accepts:", () => field("values.photos").getAttribute("accept"), () => page.locator(".file small").first().textContent());
await field("where.id").fill(bicycle.answer.results[0].id);
await field("values.photos").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("text") });
await page.locator(".file output.problem").waitFor();
await say("a text:", () => page.locator(".file output").textContent());
await field("values.photos").setInputFiles({ name: "big.png", mimeType: "image/png", buffer: Buffer.alloc(5_000_001) });
await page.waitForFunction(() => document.querySelector(".file output").textContent.includes("big.png"));
await say("too large:", () => page.locator(".file output").textContent());
await field("values.photos").setInputFiles([{ name: "a.png", mimeType: "image/png", buffer: Buffer.from("png") }, { name: "large.png", mimeType: "image/png", buffer: Buffer.alloc(4_000_000) }]);
await page.waitForFunction(() => document.querySelector(".file output").textContent === "inline, uploaded");
const photographed = await sent(page);
await say("photos:", photographed.status, photographed.answer.photos.map((p) => `${p.filename} ${p.size}`).join(", "));

// Permissions, as an anonymous caller and then signed in.
await page.goto(base + "/docs/access");
await say("matrix:", async () => (await page.locator('tr[data-action="hireMechanic"]').innerText()).trim());
await picture("access", page);
await say("anonymous:", (await sendJSON("hireMechanic", { name: "Grace" })).status);
await page.locator("#caller > summary").click();
await page.locator('#sign-in input[name="username"]').fill("ada@example.com");
await page.locator('#sign-in input[name="password"]').fill("correct horse battery");
await page.getByRole("button", { name: "Sign in" }).click();
await page.locator("#who", { hasText: "ada@example.com" }).waitFor();
await say("signed in:", (await sent(page)).status);
await say("on another page:", (await sendJSON("hireMechanic", { name: "Linus" })).status);

// The palette finds names, rules and inputs, and SQL.
const find = async (text) => {
  await page.keyboard.press("Control+k");
  await page.locator("#palette input").fill(text);
};
await find("colours");
await say("found:", async () => (await page.locator("#palette [role=option] b").allTextContents()).join(" "));
await picture("palette", page);
await page.locator("#palette input").fill("insert into app.mechanic");
await page.locator("#palette [role=option]", { hasText: "in its SQL" }).waitFor();
await say("found in SQL:", async () => (await page.locator("#palette [role=option] b").allTextContents()).join(" "));
await page.locator("#palette input").fill("no such thing");
await say("found:", () => page.locator("#palette ul").textContent());
await page.locator("#palette input").fill("model Mech");
await page.keyboard.press("Enter");
await page.waitForURL("**/docs/model/Mechanic");
await say("gone to:", () => page.title());

// The reference, still signed in: padlocks where a sign-in is needed, open by now.
await page.goto(base + "/docs");
await page.locator(".opblock-summary-path", { hasText: "createCustomer" }).waitFor();
await say("operations:", async () => (await page.locator(".opblock").count()) === (await described("api")) ? "all" : "not all");
await say("padlocks:", async () => (await page.locator(".opblock:has(.authorization__btn) .opblock-summary-path").allTextContents()).map((p) => p.replace(/.*\//, "").replaceAll("\u200b", "")).join(" "));
await picture("reference", page);
const list = page.locator("#operations-Bicycle-listBicycles");
await list.locator(".opblock-summary-control").click();
await say("example:", async () => (await list.locator(".body-param__example").innerText()).replace(/\s+/g, ""));
const operation = page.locator("#operations-Mechanic-hireMechanic");
await operation.locator(".opblock-summary-control").click();
await operation.getByRole("button", { name: "Try it out" }).click();
await operation.locator("textarea").fill('{"name":"Margaret"}');
await operation.getByRole("button", { name: "Execute" }).click();
await operation.locator(".live-responses-table tr.response").first().waitFor();
await say("executed:", async () => (await operation.locator(".live-responses-table tr.response td.response-col_status").first().innerText()).trim());
await picture("operation", page);
await page.getByRole("link", { name: "Tablet" }).click();
await page.locator(".opblock-summary-path", { hasText: "moveOrder" }).waitFor();
await say("operations of Tablet:", async () => (await page.locator(".opblock").count()) === (await described("tablet")) ? "all" : "not all");

await page.getByRole("link", { name: "workshop" }).click();
await page.locator("#caller > summary").click();
await page.getByRole("button", { name: "Become anonymous" }).click();
await say("caller:", () => page.locator("#who").textContent());
await say("outside:", [...outside].join(" ") || "nothing");
await say("complaints:", complaints.join(" | ") || "none");
await browser.close();
