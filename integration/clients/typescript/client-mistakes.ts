// Calls of the workshop and the ledger that the compiler must refuse, and others that it must accept. None is made.

import { createClient as createLedgerClient } from "./ledger-client.js";
import { createClient as createPortalClient } from "./ledger-portal-client.js";
import { ApiError, createClient, type InputFields, type InputProblem, type ListBicyclesWhere, type SignInStorage } from "./workshop-client.js";
import { createClient as createTabletClient } from "./workshop-tablet-client.js";
import { every } from "./program.js";

export async function mistakes(): Promise<void> {
  const workshop = createClient({ baseUrl: "http://localhost:8080" });
  const tablet = createTabletClient({ baseUrl: "http://localhost:8080" });
  const ledger = createLedgerClient({ baseUrl: "http://localhost:8080" });
  const portal = createPortalClient({ baseUrl: "http://localhost:8080" });

  await workshop.listBicycles({ where: { brand: { equals: "x" } } });
  // @ts-expect-error: a misspelt operator
  await workshop.listBicycles({ where: { brand: { equal: "x" } } });
  // @ts-expect-error: an operator of another type
  await workshop.listBicycles({ where: { brand: { greaterThan: "x" } } });
  // @ts-expect-error: an operator of another type, in a variable
  const where: ListBicyclesWhere = { kind: { contains: "C" } };
  // @ts-expect-error: no filter of this list
  await workshop.listBicycles({ where: { ...where, colour: { equals: "x" } } });
  // @ts-expect-error: no member of the enum
  await workshop.listBicycles({ where: { kind: { equals: "Tandem" } } });
  // @ts-expect-error: no member of the enum, among others
  await workshop.listBicycles({ where: { kind: { oneOf: ["City", "Tandem"] } } });
  // @ts-expect-error: a name is never null
  await workshop.listCustomers({ where: { name: { equals: null } } });
  await workshop.listCustomers({ where: { email: { equals: null } } });
  // @ts-expect-error: a value in place of operators
  await workshop.listCustomers({ where: { name: "Ada" } });
  // @ts-expect-error: an extra member of a filter's object
  await workshop.listCustomers({ filter: {} });

  await workshop.createCustomer({ name: "x" });
  // @ts-expect-error: an extra member
  await workshop.createCustomer({ name: "x", nickname: "y" });
  // @ts-expect-error: an extra member below
  await workshop.registerBicycle({ owner: { id: "x", name: "y" }, brand: "x", frameNumber: "x", kind: "City" });
  // @ts-expect-error: a missing input
  await workshop.createCustomer({ email: "x" });
  // @ts-expect-error: no input at all
  await workshop.createCustomer();
  // @ts-expect-error: a wrong type
  await workshop.createCustomer({ name: 7 });
  // @ts-expect-error: null for what is never null
  await workshop.updateCustomer({ where: { id: "x" }, values: { name: null } });
  // @ts-expect-error: the values beside where
  await workshop.updateCustomer({ where: { id: "x" }, name: "y" });
  // @ts-expect-error: an input where there is none
  await ledger.myBusiness({ id: "x" });
  // @ts-expect-error: an extra member of a row below another
  await ledger.draftInvoice({ customer: { id: "x" }, issuedOn: "x", dueOn: "x", lines: [{ text: "x", price: 1, cost: 2 }] });

  // @ts-expect-error: the action does not exist
  await workshop.listCustomer();
  // @ts-expect-error: the small API does not have it
  await tablet.createCustomer({ name: "x" });
  // @ts-expect-error: nor the account's actions, since it has no identities
  await portal.recordPayment({});

  // @ts-expect-error: two ways to ask for a page
  await ledger.listInvoices({ first: 1, last: 1 });
  // @ts-expect-error: a cursor with a limit
  await ledger.listInvoices({ limit: 1, after: "x" });
  // @ts-expect-error: an offset without limit
  await ledger.listInvoices({ offset: 1 });
  await ledger.listInvoices({ limit: 1, offset: 1, orderBy: [{ dueOn: "asc" }, { number: "desc" }] });
  // @ts-expect-error: two fields in one step of the order
  await ledger.listInvoices({ orderBy: [{ dueOn: "asc", number: "desc" }] });
  // @ts-expect-error: not a field to order by
  await ledger.listInvoices({ orderBy: [{ note: "asc" }] });
  // @ts-expect-error: not a direction
  await ledger.listInvoices({ orderBy: [{ dueOn: "up" }] });
  // @ts-expect-error: not even a step
  await ledger.listInvoices({ orderBy: [undefined] });
  // @ts-expect-error: all of a list has no page to ask for
  ledger.listInvoices.all({ last: 2 });
  ledger.listInvoices.all({ first: 2, where: { state: { equals: "Sent" } } });
  // @ts-expect-error: a misspelt operator there
  ledger.listInvoices.pages({ where: { state: { equal: "Sent" } } });

  await workshop.upload("photographBicycle", "photos", new Blob(["x"]));
  // @ts-expect-error: the field does not exist
  await workshop.upload("photographBicycle", "photo", new Blob(["x"]));
  // @ts-expect-error: the upload does not exist
  await workshop.upload("createCustomer", "photos", new Blob(["x"]));
  // @ts-expect-error: a client without uploads has none
  await portal.upload("recordPayment", "receipt", new Blob(["x"]));

  // @ts-expect-error: where the service is
  createClient({});
  // @ts-expect-error: a misspelt option
  createClient({ baseUrl: "x", retry: 2 });
  // @ts-expect-error: a misspelt option of a call
  await workshop.listCustomers({}, { abort: AbortSignal.timeout(1) });
  // @ts-expect-error: no password
  await workshop.signIn({ username: "x" });
  createClient({ baseUrl: "x", storage: localStorage });
  const storage: SignInStorage = { getItem: async () => null, setItem: async () => {}, removeItem: async () => {} };
  createClient({ baseUrl: "x", storage });

  const invoice = await ledger.getInvoice({ id: "x" });
  // @ts-expect-error: it may be null
  invoice.number;
  // @ts-expect-error: no member of the record
  invoice?.colour;
  for await (const entry of portal.listEntries.all()) {
    const arm: "creditNote" | "invoice" | "payment" | "refund" = entry.sourceArm;
    // @ts-expect-error: the arm does not exist
    if (arm === "line") return;
  }
}

/** The inputs that a form shows its problems beside. The compiler knows their names. */
export function beside(problem: InputProblem): string {
  switch (problem.field) {
    case "owner.id":
      return "the customer";
    case "items.0.what":
      return "the first item";
    // @ts-expect-error: no input has this name
    case "ownr.id":
      return "";
    default:
      return problem.field ?? "the form";
  }
}

export const labels: { [Field in InputFields["createCustomer"]]: string } = {
  name: "Name",
  email: "E-mail",
  phone: "Telephone",
  newsletter: "Offers",
  // @ts-expect-error: no input of the action
  brand: "Brand",
};

/** The reaction to an error. The compiler knows all codes, and the members of each. */
export function advice(error: unknown): string {
  if (!(error instanceof ApiError)) return "a mistake of the application";
  switch (error.code) {
    case "ERR_INVALID_INPUT":
    case "ERR_CONFLICT":
    case "ERR_INPUT_MALFORMED":
      return (error.data?.errors ?? []).map((e) => `${e.field ?? ""} ${e.error}`).join(", ");
    case "ERR_REQUEST_TOO_LARGE":
      return twoOf(error.status);
    case "ERR_AUTHENTICATION_FAILED":
    case "ERR_PERMISSION_DENIED":
    case "ERR_SECOND_FACTOR":
    case "ERR_ACTION_NOT_FOUND":
    case "ERR_RECORD_NOT_FOUND":
    case "ERR_HTTP_METHOD_NOT_ALLOWED":
    case "ERR_UNSUPPORTED_MEDIA_TYPE":
    case "ERR_IDEMPOTENCY_KEY_REUSED":
    case "ERR_NOT_LIVE":
    case "ERR_RATE_LIMITED":
    case "ERR_INTERNAL":
    case "ERR_UNAVAILABLE":
    case "ERR_OUTCOME_UNKNOWN":
    case "ERR_TIMEOUT":
    case "invalid_request":
    case "invalid_grant":
    case "second_factor_required":
    case "unsupported_grant_type":
    case "unsupported_token_type":
    case "unsupported_response_type":
    case "temporarily_unavailable":
    case "access_denied":
    case "server_error":
    case "ERR_NO_ANSWER":
    case "ERR_UNEXPECTED_ANSWER":
    case "ERR_UPLOAD_REFUSED":
    case "ERR_SIGN_IN_NOT_BEGUN":
      return error.message;
    // @ts-expect-error: the code does not exist
    case "ERR_OTHER":
      return "";
    default:
      return every(error);
  }
}

function twoOf(status: 413 | 431): string {
  return String(status);
}

/** Problems of inputs are told apart by their codes. */
export function say(problem: InputProblem): string {
  switch (problem.code) {
    case "maxLength":
      return `${problem.params.limit.toFixed()}`;
    case "required":
      // @ts-expect-error: a problem of this code has no params
      return problem.params.limit;
    // @ts-expect-error: the code does not exist
    case "other":
      return "";
    default:
      return problem.error;
  }
}
