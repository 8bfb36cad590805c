// Errors: refusals by the server, and failures to reach it.

import type { PasskeyRequest } from "./passkeys.js";
import type { InputProblem } from "./problems.js";

/** The members of every ApiError. */
export class ServiceError extends Error {
  override readonly name: string = "ApiError";
  /** The error code, which is the same in all releases. */
  readonly code: string;
  /** The status of the response; 0 if there was none. */
  readonly status: number;
  /** The problems of single inputs, if any. */
  readonly data?: ErrorData;
  /** The number of seconds after which to try again, if the server says it. */
  readonly retryAfter?: number;
  /** The id of the request in the log of the server. */
  readonly requestId?: string;

  constructor(code: string, status: number, message: string, more: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.status = status;
    Object.assign(this, more);
  }
}

interface ErrorData {
  errors: InputProblem[];
  /** With ERR_SECOND_FACTOR: a second factor, or any credential within the last minutes. */
  needs?: "secondFactor" | "recentSignIn";
  /** With second_factor_required: what the account has, the token for showing one of it, and what asks for a passkey. */
  factors?: ("totp" | "passkey" | "recovery")[];
  factorToken?: string;
  publicKey?: PasskeyRequest;
}

interface ErrorDetails {
  data?: ErrorData;
  retryAfter?: number;
  requestId?: string;
  cause?: unknown;
}

/** An ApiError of one code, with its possible statuses. */
type ErrorOf<Code extends string, Status extends number> = ServiceError & { readonly code: Code; readonly status: Status };

/** Reads an error response, in the form of the API or of OAuth. */
async function readRefusal(response: Response): Promise<ServiceError> {
  const details: ErrorDetails = {};
  const requestId = response.headers.get("X-Request-Id");
  if (requestId !== null) details.requestId = requestId;
  const retryAfter = response.headers.get("Retry-After");
  if (retryAfter !== null && /^\d+$/.test(retryAfter)) details.retryAfter = Number(retryAfter);
  let body: { code?: unknown; message?: unknown; data?: unknown; error?: unknown; error_description?: unknown } & FactorNeeded = {};
  try {
    body = Object(await response.json());
  } catch (cause) {
    details.cause = cause;
  }
  const code = body.code ?? body.error;
  if (typeof code !== "string") return unexpectedAnswer(response.status, details);
  if (body.data !== undefined) details.data = { errors: [], ...(body.data as Partial<ErrorData>) };
  if (body.factor_token !== undefined) details.data = factorData(body);
  return new ServiceError(code, response.status, String(body.message ?? body.error_description ?? code), details);
}

/** An answer by which a sign-in stops for a second factor. */
interface FactorNeeded {
  factor_token?: string;
  factors?: ("totp" | "passkey" | "recovery")[];
  publicKey?: PasskeyRequest;
}

function factorData({ factor_token: factorToken, factors, publicKey }: FactorNeeded): ErrorData {
  return { errors: [], ...(factorToken && { factorToken }), ...(factors && { factors }), ...(publicKey && { publicKey }) };
}

/** The error for a response that is not from the server, but for example from a proxy. */
function unexpectedAnswer(status: number, details: ErrorDetails): ServiceError {
  return new ServiceError("ERR_UNEXPECTED_ANSWER", status, `the response, with status ${status}, is not from the server`, details);
}

/** The error of a call whose sign-in has ended, or was replaced by another. */
function signInEnded(cause: unknown): ServiceError {
  return new ServiceError("ERR_AUTHENTICATION_FAILED", 401, "the sign-in has ended or changed", { cause });
}

export { type ErrorOf, type FactorNeeded, factorData, readRefusal, signInEnded, unexpectedAnswer };
