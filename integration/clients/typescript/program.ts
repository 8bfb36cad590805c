// The parts that the programs share: the address of the service, the caller, and steps that
// are reported one by one.

/** The address of the service and a token for calls that need one. */
export const [baseUrl, token] = process.argv.slice(2) as [string, string];

export const signedIn = { Authorization: `Bearer ${token}` };

/** step runs a part of a program and reports the result. */
export async function step(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (e) {
    console.log(`not ok ${name}: ${e instanceof Error ? e.stack : JSON.stringify(e)}`);
    process.exitCode = 1;
  }
}

/** equal fails unless two values are the same as JSON. */
export function equal(got: unknown, want: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    throw new Error(`got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
}

/** some returns a value, and fails if there is none. */
export function some<T>(value: T, error?: unknown): NonNullable<T> {
  if (value === undefined || value === null) {
    throw new Error(`got nothing${error === undefined ? "" : `, but ${JSON.stringify(error)}`}`);
  }
  return value;
}

/** every is a place that no value reaches: the compiler checks that. */
export function every(value: never): never {
  throw new Error(`unforeseen: ${JSON.stringify(value)}`);
}
