// Requests: single tries, and repeated ones where that is safe.

import { ServiceError, readRefusal, unexpectedAnswer } from "./errors.js";
import { type SignInStorage, pause, reasonOf } from "./surroundings.js";

/** The options of a client. */
export interface ClientOptions {
  /** The baseUrl of the service's settings, such as https://api.example.com. */
  baseUrl: string;
  /** The storage of the sign-in. By default localStorage; without one, the memory of the program. */
  storage?: SignInStorage;
  /** The function that sends requests; by default the global fetch. */
  fetch?: typeof globalThis.fetch;
  /** Headers of every call. Authorization replaces the sign-in. */
  headers?: Record<string, string>;
  /** The IANA time zone for relative dates, such as Europe/Berlin; by default UTC. */
  timeZone?: string;
  /** The number of retries of a call, where a retry is safe; by default 2. */
  retries?: number;
  /**
   * Asks the user for a credential: for a second factor at a sign-in, or because a call needs one that was shown lately. The client
   * then repeats the call. It is called again with the refusal of a wrong one, until it answers null.
   */
  askCredential?: (asked: CredentialRequest) => Promise<Credential | null>;
}

/** Something that a user shows. For a passkey, the client asks the browser. */
export type Credential = { username: string; password: string } | { code: string } | { recoveryCode: string } | { passkey: true };

/** A request to show something. */
export interface CredentialRequest {
  /** A second factor, or any credential; the second factor again if the account has one. */
  needs: "secondFactor" | "recentSignIn";
  /** The second factors that the account has: an authenticator app, passkeys, recovery codes. Unknown before the password. */
  factors?: ("totp" | "passkey" | "recovery")[];
  /** Why it is asked for. */
  error: ServiceError;
}

/** The options of a call. */
export interface CallOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Further headers. */
  headers?: Record<string, string>;
  /** The time zone of this call, instead of the client's. */
  timeZone?: string;
  /** The idempotency key of a writing call. By default the client makes one for all tries of the call. */
  idempotencyKey?: string;
}

/** Whether a request may be sent again: always, or only if it was certainly not carried out. */
type Repeatable = "always" | "if refused";

interface ServiceRequest {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal | undefined;
  /** Called with the headers of the response. */
  heard?: (headers: Headers) => void;
}

const longestPause = 10_000;

/** Sends one request and reads the response. */
async function sendOnce<T>(fetch: typeof globalThis.fetch, { url, signal, heard, ...request }: ServiceRequest): Promise<T> {
  const init: RequestInit = request;
  if (signal !== undefined) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (cause) {
    throw signal?.aborted ? reasonOf(signal) : noAnswer(cause);
  }
  if (!response.ok) throw await readRefusal(response);
  heard?.(response.headers);
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw signal?.aborted ? reasonOf(signal) : noAnswer(cause);
  }
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw unexpectedAnswer(response.status, { cause });
  }
}

function noAnswer(cause: unknown): ServiceError {
  return new ServiceError("ERR_NO_ANSWER", 0, "the server could not be reached, or the connection broke", { cause });
}

/** Repeats a request until it succeeds, as long as a retry is safe and useful. */
async function persist<T>(retries: number, repeatable: Repeatable, signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
  let isOutcomeUnknown = false; // of an earlier try
  for (let tries = 0; ; tries++) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ServiceError) || tries >= retries) throw error;
      const wait = error.retryAfter === undefined ? 250 * 2 ** tries * (0.5 + Math.random()) : error.retryAfter * 1000;
      if (wait > longestPause || !isWorthRepeating(error, repeatable, isOutcomeUnknown)) throw error;
      isOutcomeUnknown ||= error.code !== "ERR_UNAVAILABLE";
      await pause(wait, signal);
    }
  }
}

/** Tells whether a retry after an error is safe and may succeed. */
function isWorthRepeating(error: ServiceError, repeatable: Repeatable, isOutcomeUnknown: boolean): boolean {
  switch (error.code) {
    case "ERR_UNAVAILABLE": // it was not carried out
      return true;
    case "temporarily_unavailable": // nor was this; with 429 a retry would count as an attempt
      return error.status === 503;
    case "ERR_NO_ANSWER":
    case "ERR_OUTCOME_UNKNOWN":
      return repeatable === "always";
    case "ERR_UNEXPECTED_ANSWER": // from a proxy
      return repeatable === "always" && [502, 503, 504].includes(error.status);
    case "ERR_TIMEOUT": // perhaps it waited for an earlier try that still runs
      return repeatable === "always" && isOutcomeUnknown;
  }
  return false;
}

export { noAnswer, persist, type Repeatable, sendOnce, type ServiceRequest };
