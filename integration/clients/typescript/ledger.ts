// Clients of the ledger: one for the owner of a business, and one for a customer, each
// made from the description of its own API.

import createClient from "openapi-fetch";

import type { components as ApiComponents, paths as ApiPaths } from "./ledger-api.js";
import type { components, paths as BooksPaths } from "./ledger-books.js";
import type { components as PortalComponents, paths as PortalPaths } from "./ledger-portal.js";
import { baseUrl, equal, signedIn, some, step } from "./program.js";

type Schemas = components["schemas"];
type Invoice = Schemas["Invoice"];
type Entry = PortalComponents["schemas"]["Entry"];

const books = createClient<BooksPaths>({ baseUrl, headers: signedIn });
const nobody = createClient<BooksPaths>({ baseUrl });

/** A client of the portal, for somebody who has just signed in. */
async function signIn(username: string) {
  const response = await fetch(`${baseUrl}/auth/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "password", username, password: "correct horse battery" }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return createClient<PortalPaths>({ baseUrl, headers: { Authorization: `Bearer ${access_token}` } });
}

const portal = await signIn("bo@example.com");
const stranger = await signIn("eve@example.com");

let customer: Schemas["Customer"];
let invoice: Invoice;

await step("open a ledger", async () => {
  const { data, error } = await books.POST("/books/json/openLedger", { body: { name: "Quist" } });
  const opened = some(data, error);
  const mine = await books.POST("/books/json/myBusiness");
  equal(mine.data?.id, opened.id);
});

await step("create a record with others below it", async () => {
  const added = await books.POST("/books/json/addCustomer", { body: { name: "Bo", invitation: "blue-violin" } });
  customer = some(added.data, added.error);
  const { data, error } = await books.POST("/books/json/draftInvoice", {
    body: {
      customer: { id: customer.id },
      issuedOn: "2026-03-01",
      dueOn: "2026-03-31",
      lines: [
        { text: "strings", quantity: 3, price: 24.5 },
        { text: "repair", price: 80 },
      ],
    },
  });
  invoice = some(data, error);
  equal([invoice.state, invoice.total], ["Draft", 153.5]);
});

await step("call custom code, and be refused by the rule around it", async () => {
  const { data, error } = await books.POST("/books/json/sendInvoice", { body: { where: { id: invoice.id } } });
  equal(some(data, error).total, 153.5);
  const again = await books.POST("/books/json/sendInvoice", { body: { where: { id: invoice.id } } });
  equal([again.response.status, again.error?.code], [403, "ERR_PERMISSION_DENIED"]);
});

await step("send a file along", async () => {
  const { data, error } = await books.POST("/books/json/recordPayment", {
    body: {
      invoice: { id: invoice.id },
      amount: 100,
      paidOn: "2026-03-15",
      method: "Cash",
      receipt: "data:application/pdf;name=receipt.pdf;base64,JVBERi0=",
    },
  });
  equal(some(some(data, error).receipt).filename, "receipt.pdf");
});

await step("send a file ahead of the create that takes it", async () => {
  const minted = await books.POST("/books/json/recordPayment/upload/receipt", {
    body: { filename: "receipt.png", contentType: "image/png", size: 3 },
  });
  const { key, url, headers } = some(minted.data, minted.error);
  const sent = await fetch(url, { method: "PUT", headers: { "Content-Type": some(headers["Content-Type"]) }, body: new Uint8Array([1, 2, 3]) });
  equal(sent.status, 200);
  const body = { invoice: { id: invoice.id }, amount: 10, paidOn: "2026-04-15", method: "Card", receipt: key } as const;
  const { data, error } = await books.POST("/books/json/recordPayment", { body });
  const receipt = some(some(data, error).receipt);
  equal([receipt.filename, receipt.contentType, receipt.size], ["receipt.png", "image/png", 3]);
  const again = await books.POST("/books/json/recordPayment", { body });
  equal(some(again.error).data?.errors, [{ field: "receipt", code: "upload", error: "is not an upload key for this input" }]);
  const large = await books.POST("/books/json/recordPayment/upload/receipt", {
    body: { filename: "receipt.png", contentType: "image/png", size: 2_000_001 },
  });
  equal(some(large.error).data?.errors, [{ field: "size", code: "maxSize", params: { limit: 2000000 }, error: "must be at most 2000000 bytes" }]);
  const refused = await nobody.POST("/books/json/recordPayment/upload/receipt", {
    body: { filename: "receipt.png", contentType: "image/png", size: 3 },
  });
  equal(refused.error?.code, "ERR_PERMISSION_DENIED");
});

await step("tell errors apart by their code", async () => {
  const { error } = await books.POST("/books/json/draftInvoice", {
    body: { customer: { id: customer.id }, issuedOn: "2026-03-02", dueOn: "2026-03-01", lines: [] },
  });
  equal([error?.code, error?.data?.errors], ["ERR_CONFLICT", [{ code: "validate", error: "an invoice is due after it is issued" }]]);
});

await step("embedded records", async () => {
  const { data, error } = await books.POST("/books/json/getInvoice", { body: { id: invoice.id } });
  const lines: Schemas["Line"][] = some(data, error).lines;
  equal(lines.map((l) => l.text), ["strings", "repair"]);
});

await step("a customer accepts", async () => {
  const { data, error } = await portal.POST("/portal/json/acceptInvitation", { body: { where: { invitation: "blue-violin" } } });
  equal(some(data, error).id, customer.id);
});

/** An entry in words. The compiler knows all arms. */
function inWords(entry: Entry): string {
  const arms: Record<Entry["sourceArm"], string> = {
    creditNote: "credited",
    invoice: "invoiced",
    payment: "paid",
    refund: "paid back",
  };
  const method: Entry["method"] = entry.method;
  return `${entry.day} ${arms[entry.sourceArm]} ${entry.amount}${method === null ? "" : ` by ${method}`}`;
}

await step("list a union with filters and an order, page by page", async () => {
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const { data, error } = await portal.POST("/portal/json/listEntries", {
      body: {
        where: { sourceArm: { oneOf: ["invoice", "payment"] }, method: { notEquals: "Card" }, day: { after: "2026-02-28" }, atLeast: 1 },
        orderBy: [{ day: "asc" }],
        first: 1,
        totalCount: true,
        ...(after === undefined ? {} : { after }),
      },
    });
    const page = some(data, error);
    equal(page.pageInfo.totalCount, 2);
    seen.push(...page.results.map(inWords));
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined;
  } while (after !== undefined);
  equal(seen, ["2026-03-01 invoiced 153.5", "2026-03-15 paid 100 by Cash"]);
});

await step("get an entry of a union, or nothing, or a refusal", async () => {
  const found = await portal.POST("/portal/json/getEntry", { body: { id: invoice.id } });
  equal(some(found.data, found.error).sourceModel, "Invoice");
  const missing = await portal.POST("/portal/json/getEntry", { body: { id: "none" } });
  equal(missing.data, null);
  const refused = await stranger.POST("/portal/json/getEntry", { body: { id: invoice.id } });
  equal(refused.error?.code, "ERR_PERMISSION_DENIED");
});

await step("read a message", async () => {
  const body = { id: customer.id, since: "2026-03-10", until: "2026-03-31" };
  const { data, error } = await portal.POST("/portal/json/statement", { body });
  const statement: PortalComponents["schemas"]["Statement"] = some(data, error);
  equal([statement.opening, statement.closing], [153.5, 53.5]);
  equal(statement.entries.map((e) => [e.text, e.debit ?? null, e.credit ?? null]), [[invoice.number, null, 100]]);
  const hidden = await stranger.POST("/portal/json/statement", { body });
  equal([hidden.error?.code, hidden.error?.message], ["ERR_RECORD_NOT_FOUND", "the customer does not exist"]);
});

await step("nobody reads nothing", async () => {
  const refused = await nobody.POST("/books/json/listInvoices");
  equal(refused.error?.code, "ERR_PERMISSION_DENIED");
});

/** The records of all APIs are the same, so that code can be shared between them. */
export function shared(entry: ApiComponents["schemas"]["Entry"]): Entry {
  return entry;
}

/** Calls that the compiler must refuse. It is never called. */
export async function mistakes(): Promise<void> {
  const api = createClient<ApiPaths>({ baseUrl });
  // @ts-expect-error: the portal does not have it
  await portal.POST("/portal/json/recordPayment", { body: {} });
  // @ts-expect-error: nor its upload
  await portal.POST("/portal/json/recordPayment/upload/receipt", { body: { filename: "x", contentType: "image/gif", size: 1 } });
  await books.POST("/books/json/recordPayment/upload/receipt", { body: { filename: "x", contentType: "image/gif", size: 1 } });
  // @ts-expect-error: the books do not have it
  await books.POST("/books/json/acceptInvitation", { body: { where: { invitation: "x" } } });
  await api.POST("/api/json/acceptInvitation", { body: { where: { invitation: "x" } } });
  // @ts-expect-error: the arm does not exist
  const arm: PortalComponents["schemas"]["ListEntriesWhere"] = { sourceArm: { equals: "line" } };
  await portal.POST("/portal/json/listEntries", { body: { where: arm } });
  // @ts-expect-error: an arm is never null
  await portal.POST("/portal/json/listEntries", { body: { where: { sourceArm: { equals: null } } } });
  await portal.POST("/portal/json/listEntries", { body: { where: { method: { equals: null } } } });
  // @ts-expect-error: a list cannot be ordered by that
  const orderBy: NonNullable<PortalComponents["schemas"]["ListEntriesInput"]["orderBy"]> = [{ method: "asc" }];
  equal(orderBy, []);
  // @ts-expect-error: a line has a price
  const line: Schemas["DraftInvoiceInput"]["lines"] = [{ text: "x" }];
  equal(line, []);
}
