// Errors: what the service refuses, and what keeps a call from it.

/** One problem of what was sent. */
export interface InputProblem {
  /** The dotted path of the input that is meant. */
  field?: string;
  error: string;
}

/** What every ApiError has. */
export class ServiceError extends Error {
  override readonly name: string = "ApiError";
  /** What went wrong, in a word that stays the same from release to release. */
  readonly code: string;
  /** The status of the answer; 0 where there was none. */
  readonly status: number;
  /** Which inputs are meant, where more is to be said than the message does. */
  readonly data?: { errors: InputProblem[] };
  /** After how many seconds to try again, where the service says so. */
  readonly retryAfter?: number;
  /** The name of the request in the log of the service. */
  readonly requestId?: string;

  constructor(code: string, status: number, message: string, more: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.status = status;
    Object.assign(this, more);
  }
}

interface ErrorDetails {
  data?: { errors: InputProblem[] };
  retryAfter?: number;
  requestId?: string;
  cause?: unknown;
}

/** An ApiError of a code, which comes with certain statuses. */
type ErrorOf<Code extends string, Status extends number> = ServiceError & { readonly code: Code; readonly status: Status };

/** Reads an answer that refuses, in the form of the service or in that of OAuth. */
async function readRefusal(response: Response): Promise<ServiceError> {
  const details: ErrorDetails = {};
  const requestId = response.headers.get("X-Request-Id");
  if (requestId !== null) details.requestId = requestId;
  const retryAfter = response.headers.get("Retry-After");
  if (retryAfter !== null && /^\d+$/.test(retryAfter)) details.retryAfter = Number(retryAfter);
  let body: { code?: unknown; message?: unknown; data?: unknown; error?: unknown; error_description?: unknown } = {};
  try {
    body = Object(await response.json());
  } catch (cause) {
    details.cause = cause;
  }
  const code = body.code ?? body.error;
  if (typeof code !== "string") return unexpectedAnswer(response.status, details);
  if (body.data !== undefined) details.data = body.data as { errors: InputProblem[] };
  return new ServiceError(code, response.status, String(body.message ?? body.error_description ?? code), details);
}

/** What is answered is not of this service: perhaps a proxy in between speaks. */
function unexpectedAnswer(status: number, details: ErrorDetails): ServiceError {
  return new ServiceError("ERR_UNEXPECTED_ANSWER", status, `the answer, of status ${status}, is not one of this service`, details);
}

/** The sign-in that a call would have used is over, or another one has begun. */
function signInEnded(cause: unknown): ServiceError {
  return new ServiceError("ERR_AUTHENTICATION_FAILED", 401, "the sign-in has ended or changed", { cause });
}

export { type ErrorOf, readRefusal, signInEnded, unexpectedAnswer };
