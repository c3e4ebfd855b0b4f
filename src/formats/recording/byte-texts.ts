/** Caches the meaning of recurring texts in a file by their bytes, to avoid decoding them again. */

const PLACES = 1 << 15
/** longer texts are not cached */
const MAX_BYTES = 64

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return DECODER.decode(bytes.subarray(start, end))
}

interface Known<Meaning> {
  readonly bytes: Uint8Array
  readonly meaning: Meaning
}

export class ByteTexts<Meaning> {
  readonly #meaningOf: (text: string) => Meaning
  // oxlint-disable-next-line unicorn/no-new-array -- `Array.from` would set each element, for every table that is read
  readonly #known = new Array<Known<Meaning> | undefined>(PLACES)

  constructor(meaningOf: (text: string) => Meaning) {
    this.#meaningOf = meaningOf
  }

  get(bytes: Uint8Array, start: number, end: number, hash: number): Meaning {
    const slot = (hash ^ (hash >>> 15)) & (PLACES - 1)
    const known = this.#known[slot]
    if (known !== undefined && isEqual(known.bytes, bytes, start, end)) return known.meaning
    const meaning = this.#meaningOf(textOf(bytes, start, end))
    if (end - start > MAX_BYTES) return meaning
    this.#known[slot] = { bytes: copyOf(bytes, start, end), meaning }
    return meaning
  }
}

export function isEqual(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const { length } = known
  if (end - start !== length) return false
  for (let i = 0; i < length; i += 1) if (known[i] !== bytes[start + i]) return false
  return true
}

/** Copies bytes, because chunks may be Node buffers, whose `slice` shares memory. */
export function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end))
}
