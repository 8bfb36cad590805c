// SHA-256. Browsers have crypto.subtle only on https, and React Native does not have it.

import { byteAt } from "./surroundings.js";

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function rootsOfPrimes(count: number, root: (prime: number) => number): Uint32Array {
  const words = new Uint32Array(count);
  let found = 0;
  for (let n = 2; found < count; n++) {
    let isPrime = true;
    for (let d = 2; d * d <= n; d++) isPrime &&= n % d !== 0;
    if (isPrime) words[found++] = (root(n) % 1) * 2 ** 32;
  }
  return words;
}

/** The digest of bytes (FIPS 180-4). */
function sha256(message: Uint8Array): Uint8Array {
  const constants = rootsOfPrimes(64, Math.cbrt);
  const state = rootsOfPrimes(8, Math.sqrt);
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  new DataView(padded.buffer).setUint32(padded.length - 4, message.length * 8);

  const words = new Uint32Array(64);
  const word = (i: number) => words[i] ?? 0;
  const turn = (x: number, by: number) => (x >>> by) | (x << (32 - by));
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) {
        const at = block + 4 * i;
        words[i] = (byteAt(padded, at) << 24) | (byteAt(padded, at + 1) << 16) | (byteAt(padded, at + 2) << 8) | byteAt(padded, at + 3);
        continue;
      }
      const s0 = turn(word(i - 15), 7) ^ turn(word(i - 15), 18) ^ (word(i - 15) >>> 3);
      const s1 = turn(word(i - 2), 17) ^ turn(word(i - 2), 19) ^ (word(i - 2) >>> 10);
      words[i] = word(i - 16) + s0 + word(i - 7) + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (constants[i] ?? 0) + word(i);
      const t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => (state[i] = (state[i] ?? 0) + x));
  }
  const digest = new Uint8Array(32);
  const view = new DataView(digest.buffer);
  state.forEach((x, i) => view.setUint32(4 * i, x));
  return digest;
}

export { sha256 };
