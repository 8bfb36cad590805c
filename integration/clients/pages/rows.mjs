// Walks through the rows of a project that sternpost dev serves with Chromium, and prints
// what it sees, line by line. If SCREENSHOTS names a folder, it leaves pictures there.
//
//   node rows.mjs <address of the service> <schema file>

import { readFile, writeFile } from "node:fs/promises";

import { browser, open, picture, say, sent } from "./browser.mjs";

const [base, schema] = process.argv.slice(2);
const { page, outside, complaints } = await open(base);
const cells = async (n) => (await page.locator(`#rows tbody td:nth-child(${n})`).allTextContents()).join(" ");
const dialog = page.locator("#row");
const inRow = (field) => dialog.locator(`[data-path="${field}"]`).locator("input, select, textarea").first();
const table = (model) => page.goto(`${base}/docs/rows/${model}`);
const counted = (text) => page.locator("#count", { hasText: text }).waitFor();

// The overview counts the rows, and says what to look at and what to do.
await page.goto(base + "/");
await page.locator("#all-rows", { hasText: "0 rows" }).waitFor();
await say("overview:", () => page.locator(".summary").textContent(), () => page.locator("#no-rows").isVisible());
await say("warnings:", () => page.locator("#warnings summary").textContent());

// Rows are made directly, and by an action.
await table("Owner");
await counted("0 rows");
for (const name of ["Ada", "Grace", "Linus"]) {
  await page.getByRole("button", { name: "New row" }).click();
  await inRow("name").fill(name);
  await dialog.getByRole("button", { name: "Insert" }).click();
  await dialog.waitFor({ state: "hidden" });
}
await counted("3 rows");
await say("owners:", () => cells(2));
await page.getByRole("button", { name: "New row" }).click();
await inRow("name").fill("Ada");
await dialog.getByRole("button", { name: "Insert" }).click();
await say("once more:", () => dialog.locator('[data-path="name"] .problem').textContent());
await dialog.getByRole("button", { name: "Close" }).click();

await page.goto(base + "/docs/action/addThing");
const owner = page.locator('[data-path="owner.id"] input').first();
await owner.fill("Gra");
await page.waitForFunction(() => document.querySelectorAll("datalist option").length === 1);
await say("proposed:", () => page.locator("datalist option").textContent());
await owner.fill(await page.locator("datalist option").getAttribute("value"));
await say("chosen:", () => page.locator(".picker output").textContent());
await page.locator('[data-path="title"] input').fill("a hammer");
await page.locator('[data-path="photo"] [type="file"]').setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==", "base64") });
await page.locator(".file output", { hasText: "inline" }).waitFor();
await say("by an action:", (await sent(page)).status);

// Relations both ways, filters, orders, files.
await table("Thing");
await counted("1 row");
await say("files:", () => page.locator("#rows .stored").textContent());
await page.waitForFunction(() => document.querySelector("#rows .stored img")?.naturalWidth === 3);
await say("hidden:", async () => [await page.locator("#rows th", { hasText: "code" }).textContent(), await cells(5)].join(", "));
await page.locator("#rows a", { hasText: "Grace" }).click();
await dialog.waitFor();
await say("to one:", () => dialog.locator("h3").textContent());
await picture("row", page);
await dialog.getByRole("link", { name: "1 row of Thing" }).click();
await page.waitForURL("**/docs/rows/Thing?**");
await counted("1 row");
await say("to many:", async () => (await page.locator(".chip").textContent()).replace(/[0-9a-f-]{36}/, "…"));
await table("Owner");
await page.getByRole("button", { name: "name", exact: true }).click();
await page.locator('th[aria-sort="ascending"]').waitFor();
await page.getByRole("button", { name: "name ↑" }).click();
await page.locator('th[aria-sort="descending"]').waitFor();
await say("descending:", () => cells(2));
await page.locator('#filters [name="field"]').selectOption("name");
await page.locator('#filters [name="operator"]').selectOption("contains");
await page.locator('#filters [name="value"]').fill("a");
await page.getByRole("button", { name: "Filter" }).click();
await counted("2 rows");
await say("filtered:", () => cells(2));
await page.goBack();
await counted("3 rows");

// A row is changed and deleted directly, and by an action that it fills in.
await page.locator("#rows tbody tr", { hasText: "Linus" }).locator("a").click();
await inRow("name").fill("Margaret");
await dialog.getByRole("button", { name: "Save" }).click();
await dialog.waitFor({ state: "hidden" });
await page.locator("#rows td", { hasText: "Margaret" }).waitFor();
await say("changed:", () => cells(2));
await page.locator("#rows tbody tr", { hasText: "Ada" }).locator("a").click();
await dialog.getByRole("link", { name: "renameOwner" }).click();
await page.waitForURL("**/docs/action/renameOwner?**");
await page.waitForFunction(() => document.querySelector('[data-path="values.name"] input')?.value === "Ada");
await say("refused:", (await sent(page)).status, () => page.locator("#refused").textContent());
await page.getByRole("link", { name: "Explain why" }).click();
await page.locator(".explanation", { hasText: "an anonymous caller" }).waitFor();
await say("explained:", async () => (await page.locator(".explanation").textContent()).split("\n").slice(0, 2).join(" / "));
await picture("explained", page);

// Calls as an identity, without its password.
await table("Identity");
await page.getByRole("button", { name: "New row" }).click();
await inRow("email").fill("ada@example.com");
await dialog.getByRole("button", { name: "Insert" }).click();
await dialog.waitFor({ state: "hidden" });
await table("Thing");
await counted("row"); // the page is at work
await page.getByRole("tab", { name: "listThings" }).click();
await page.locator("#rows-problem", { hasText: "403" }).waitFor();
await say("anonymous:", () => page.locator("#rows-problem").textContent());
await page.locator("#caller > summary").click();
await page.locator("#identities button", { hasText: "ada@example.com" }).click();
await counted("1 record");
await say("as", () => page.locator("#who").textContent(), () => cells(3), () => page.getByRole("tab", { selected: true }).textContent());
await picture("list", page);
await page.goBack();
await table("Owner");
await page.locator("#rows tbody tr", { hasText: "Ada" }).locator("a").click();
await dialog.getByRole("link", { name: "renameOwner" }).click();
await page.waitForFunction(() => document.querySelector('[data-path="values.name"] input')?.value === "Ada");
await page.locator('[data-path="values.name"] input').fill("Ada L.");
await say("renamed:", (await sent(page)).answer.name);
await table("Owner");
await page.locator("#rows tbody tr", { hasText: "Margaret" }).locator("a").click();
page.once("dialog", (d) => d.accept());
await dialog.getByRole("button", { name: "Delete" }).click();
await counted("2 rows");
await say("deleted:", () => cells(2));

// Two identities of one address are told apart by their providers.
await table("Identity");
await page.getByRole("button", { name: "New row" }).click();
await inRow("email").fill("ada@example.com");
await inRow("issuer").fill("https://login.example");
await dialog.getByRole("button", { name: "Insert" }).click();
await dialog.waitFor({ state: "hidden" });
await page.locator("#caller > summary").click();
await page.locator("#identities button", { hasText: "(https://login.example)" }).click();
await page.locator("#who", { hasText: "(https://login.example)" }).waitFor();
await say("as the other:", () => page.locator("#who").textContent());
await page.locator("#caller > summary").click();
await page.locator("#identities button", { hasText: /^ada@example.com \([0-9a-f-]{36}\)$/ }).click();
await page.locator("#who", { hasText: "login" }).waitFor({ state: "detached" });
await say("and as the first:", async () => (await page.locator("#who").textContent()).replace(/[0-9a-f-]{36}/, "its id"));

// A model without actions has rows too.
await page.goto(base + "/");
await page.locator('[data-model="Shelf"] .rows').click();
await page.getByRole("button", { name: "New row" }).click();
await inRow("room").fill("cellar");
await dialog.getByRole("button", { name: "Insert" }).click();
await counted("1 row");
await say("without actions:", () => cells(2));

// The row of an identity tells its second factors and sessions.
await fetch(base + "/auth/token", { method: "POST", body: new URLSearchParams({ grant_type: "password", username: "own@example.com", password: "a right canary" }) });
await table("Identity");
await page.locator("#rows tbody tr", { hasText: "own@example.com" }).locator("a").first().click();
await say("signed in:", async () => (await dialog.locator(".about p").allTextContents()).join(" / ").replace(/node, [0-9.:a-f]+, last used [0-9TZ:.-]+/, "node, …"));
await page.keyboard.press("Escape");
await dialog.waitFor({ state: "hidden" });

// The pages show errors in the schema until they are corrected.
const text = await readFile(schema, "utf8");
await writeFile(schema, text.replace("title Text", "title Txet"));
await page.locator("#trouble", { hasText: "Txet" }).waitFor();
await say("trouble:", async () => (await page.locator("#trouble p").textContent()).trim());
await picture("trouble", page);
await writeFile(schema, text.replace("title Text", "title Text\n    size Text?"));
await page.locator("#trouble").waitFor({ state: "hidden" });
await page.locator("#newer button").click();
await page.waitForFunction(() => document.getElementById("release")?.textContent === "2");
await table("Thing");
await counted("1 record"); // as the caller sees them
await say("release 2:", async () => (await page.locator("#rows thead th").allTextContents()).join(" "));
await say("outside:", [...outside].join(" ") || "nothing");
await say("complaints:", complaints.join(" | ") || "none");
await browser.close();
