// Uses the front end of the tutorial with Chromium, and prints what a user sees.
//
//   node tutorial.mjs <address of the page>

import { browser, open, say } from "./browser.mjs";

const [address] = process.argv.slice(2);
const { page, complaints } = await open(address);

const things = page.locator("#things li");
const shown = async (selector) => page.locator(selector).isVisible();
await page.goto(address);
await things.first().waitFor();
await say("at first:", () => things.count(), "things;", async () => ((await shown("#sign-in")) && !(await shown("#offer")) ? "sign in" : "signed in"));

await page.getByLabel("E-mail").fill("ada@example.com");
await page.getByLabel("Password").fill("correct-horse");
await page.getByRole("button", { name: "Sign in" }).click();
await page.locator("#offer").waitFor();
await say("signed in: ada@example.com", async () => ((await shown("#sign-in")) ? "has to sign in" : "can offer"));

// A picture of 3 by 2 points.
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==",
  "base64",
);
await page.getByLabel("Title").fill("Lamp");
await page.getByLabel("Photo").setInputFiles({ name: "lamp.png", mimeType: "image/png", buffer: picture });
await page.getByRole("button", { name: "Offer" }).click();
const lamp = things.filter({ hasText: "Lamp" });
await lamp.locator("img").waitFor();
const [width, height] = await lamp.locator("img").evaluate(async (image) => {
  await image.decode();
  return [image.naturalWidth, image.naturalHeight];
});
await say("offered: Lamp, with a picture of", width, "by", height, "points");

await page.getByLabel("Title").fill("x".repeat(81));
await page.getByRole("button", { name: "Offer" }).click();
await page.waitForFunction(() => document.querySelector("#said").textContent !== "");
await say("refused:", () => page.locator("#said").textContent());

page.once("dialog", (dialog) => dialog.accept("For my niece"));
await things.filter({ hasText: "Kitchen chair" }).getByRole("button", { name: "Ask for it" }).click();
const wish = page.locator("#wishes li").filter({ hasText: "niece" });
await wish.waitFor();
await say("asked for:", () => wish.textContent());

await page.getByRole("button", { name: "Sign out" }).click();
await page.locator("#sign-in").waitFor();
await say("signed out:", async () => ((await shown("#offer")) ? "can offer" : "sign in"));
await say("complaints:", complaints.join("; ") || "none");
await browser.close();
