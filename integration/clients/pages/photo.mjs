// Uploads a picture from a page with Chromium, as an application would, and prints
// what the page shows about it.
//
//   node photo.mjs <address of the service> <address of the page> <id of a bicycle>

import { chromium } from "playwright-core";

const [base, address, bicycle] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage();
page.setDefaultTimeout(60_000);

const puts = [];
const complaints = [];
page.on("response", (r) => r.request().method() === "PUT" && puts.push(`${r.status()} ${new URL(r.url()).origin === base ? "here" : "elsewhere"}`));
page.on("pageerror", (e) => complaints.push(String(e)));
page.on("console", (m) => m.type() === "error" && complaints.push(m.text()));

await page.goto(`${address}/?base=${encodeURIComponent(base)}&bicycle=${bicycle}`);
// A picture of 3 by 2 points.
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==",
  "base64",
);
await page.setInputFiles("input[type=file]", { name: "front ü.png", mimeType: "image/png", buffer: picture });
await page.waitForFunction(() => document.querySelector("output").textContent !== "");
console.log("page:", await page.locator("output").textContent());
console.log("put:", puts.join(", "));
console.log("complaints:", complaints.join("; ") || "none");
await browser.close();
