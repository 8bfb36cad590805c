// Uses the workshop's client in a runtime with few features: only the parts of the web that are passed to it, as on
// React Native, which lacks crypto, a complete URL, and locks.

import http from "node:http";

import { createClient, dataUrl } from "./workshop-client.js";
import { baseUrl, equal, step } from "./program.js";

/** A short fetch. */
const send = (input: unknown, init: RequestInit = {}) =>
  new Promise<Response>((resolve, reject) => {
    const request = http.request(String(input), { method: init.method ?? "GET", headers: init.headers as Record<string, string> }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => {
        const text = Buffer.concat(parts).toString();
        const status = answer.statusCode ?? 0;
        const headers = { get: (name: string) => answer.headers[name.toLowerCase()] ?? null };
        resolve({ ok: status === 200, status, headers, text: async () => text, json: async () => JSON.parse(text) } as unknown as Response);
      });
    });
    request.on("error", reject);
    request.end(init.body);
  });

const missing = ["crypto", "fetch", "Headers", "Request", "Response", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "btoa", "atob", "navigator", "ReadableStream"];
for (const name of missing) Object.defineProperty(globalThis, name, { value: undefined, configurable: true });

await step("call where there is little", async () => {
  const client = createClient({ baseUrl, fetch: send });
  const keys = new Set<string>();
  const telling = createClient({
    baseUrl,
    fetch: (input, init) => {
      keys.add(String((init?.headers as Record<string, string>)["Idempotency-Key"]));
      return send(input, init);
    },
  });
  await Promise.all(["Ada", "Bo", "Cy"].map((name) => telling.createCustomer({ name })));
  equal([keys.size, [...keys].every((key) => /^[a-z0-9-]{20,}$/.test(key))], [3, true]);
  const seen: string[] = [];
  for await (const customer of client.listCustomers.all({ first: 1 })) seen.push(customer.name);
  equal(seen.sort(), ["Ada", "Bo", "Cy"]);
  await client.signIn({ username: "phone@example.com", password: "correct horse canary" });
  equal((await client.hireMechanic({ name: "Mia" })).name, "Mia");
  equal(await client.signInWith("company", { redirectUri: "x:/", open: () => {} }).catch(String),
    "Error: crypto.getRandomValues is missing: add it, in React Native with react-native-get-random-values");
  await client.signOut();
});

await step("read a file where Blob cannot", async () => {
  class Reader {
    result: unknown;
    error: unknown;
    onload: (() => void) | null = null;
    onerror: (() => void) | null = null;
    readAsDataURL(): void {
      this.result = "data:application/octet-stream;base64,AQID";
      setTimeout(() => this.onload?.(), 0);
    }
  }
  Object.defineProperty(globalThis, "FileReader", { value: Reader, configurable: true });
  const file = { name: "x.png", type: "image/png", size: 3 } as unknown as Blob;
  equal(await dataUrl(file), "data:image/png;name=x.png;base64,AQID");
});
