// Looks with Chromium at the page of a service without a database, restores the database,
// and waits for the page of the application.
//
//   node wait.mjs <address of the service> <address that mends it>

import { chromium } from "playwright-core";

const [base, mend] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage();
page.setDefaultTimeout(60_000);
const answer = await page.goto(base + "/");
console.log(answer.status(), await page.locator("h1").textContent());
await fetch(mend);
await page.locator("h1", { hasText: "workshop" }).waitFor();
console.log("then", await page.locator("h1").textContent());
await browser.close();
