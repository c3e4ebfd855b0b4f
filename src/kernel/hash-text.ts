/** Hashes a text to the same number on every machine and in every version, since placement depends on it. */

const UTF8 = new TextEncoder()

/** 32-bit FNV-1a over UTF-8, then the MurmurHash3 finalizer so that short texts differ in all bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of UTF8.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
