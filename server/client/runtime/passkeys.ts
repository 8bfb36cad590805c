// Passkeys: the JSON of the service for the browser's authenticators, and their answers.

import { base64url, bytesOf, surroundings } from "./surroundings.js";

/** What the service asks an authenticator for, as JSON. */
export type PasskeyRequest = Record<string, unknown>;

/** Bytes in JSON, and in what a browser takes. */
interface Identified {
  id: unknown;
}

/** The members of requests and answers that a browser without methods for JSON needs. */
interface PasskeyOptions {
  challenge: unknown;
  user?: Identified;
  excludeCredentials?: Identified[];
  allowCredentials?: Identified[];
}

interface PasskeyAnswer {
  id: string;
  type: string;
  rawId: ArrayBuffer;
  response: Record<string, ArrayBuffer | null | undefined>;
  authenticatorAttachment?: string | null;
  toJSON?: () => unknown;
  getClientExtensionResults(): unknown;
}

/**
 * Makes a passkey for the publicKey of startPasskey. Returns the credential for confirmPasskey. It throws what the browser throws, such
 * as a NotAllowedError if the user gives up.
 */
export async function createPasskey(publicKey: PasskeyRequest): Promise<string> {
  const options = surroundings.PublicKeyCredential?.parseCreationOptionsFromJSON?.(publicKey) ?? optionsOf(publicKey);
  return answerOf(await authenticators().create({ publicKey: options }));
}

/** Has the user show a passkey. Returns the credential for the token endpoint. */
async function showPasskey(publicKey: PasskeyRequest): Promise<string> {
  const options = surroundings.PublicKeyCredential?.parseRequestOptionsFromJSON?.(publicKey) ?? optionsOf(publicKey);
  return answerOf(await authenticators().get({ publicKey: options }));
}

function authenticators() {
  const credentials = surroundings.navigator?.credentials;
  if (credentials === undefined) throw new Error("passkeys need a browser, and a page over https or of localhost");
  return credentials;
}

/** What the browser takes, with bytes in place of base64url. */
function optionsOf(publicKey: PasskeyRequest): PasskeyOptions {
  const { challenge, user, excludeCredentials, allowCredentials } = publicKey as unknown as PasskeyOptions;
  const withBytes = (one: Identified) => ({ ...one, id: bytesOf(String(one.id)) });
  return {
    ...publicKey,
    challenge: bytesOf(String(challenge)),
    ...(user && { user: withBytes(user) }),
    ...(excludeCredentials && { excludeCredentials: excludeCredentials.map(withBytes) }),
    ...(allowCredentials && { allowCredentials: allowCredentials.map(withBytes) }),
  };
}

/** The JSON of an answer, with base64url in place of bytes. */
function answerOf(answer: PasskeyAnswer | null): string {
  if (answer === null) throw new Error("the browser has no passkey");
  if (answer.toJSON !== undefined) return JSON.stringify(answer);
  const response: Record<string, string> = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    const bytes = answer.response[name];
    if (bytes) response[name] = base64url(new Uint8Array(bytes));
  }
  const { id, type, authenticatorAttachment } = answer;
  return JSON.stringify({
    id, type, rawId: base64url(new Uint8Array(answer.rawId)), response, authenticatorAttachment: authenticatorAttachment ?? undefined,
    clientExtensionResults: answer.getClientExtensionResults(),
  });
}

export { type PasskeyAnswer, type PasskeyOptions, showPasskey };
