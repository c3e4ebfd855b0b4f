/** Converts files to UTF-8 and detects invalid bytes. */

export const ENCODINGS = ['utf-8', 'latin1'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Decodes `latin1` including the additional letters of Windows. */
export async function* asUtf8(content: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncIterable<Uint8Array> {
  if (encoding === 'utf-8') {
    yield* content
    return
  }
  const decoder = new TextDecoder('windows-1252')
  const encoder = new TextEncoder()
  for await (const chunk of content) yield encoder.encode(decoder.decode(chunk))
}

export interface ForeignByte {
  readonly line: number
  readonly column: number
  readonly byte: number
}

const LINE_FEED = 10
const [LAST_ASCII, FIRST_OF_MORE, LAST_OF_MORE] = [0x7f, 0x80, 0xbf]

export class Utf8Check {
  #line = 1
  #column = 0
  #needed = 0
  #least = FIRST_OF_MORE
  #most = LAST_OF_MORE

  /** Returns the first invalid byte; must not be called again after that. */
  push(chunk: Uint8Array): ForeignByte | undefined {
    for (const byte of chunk) {
      this.#column += 1
      if (this.#needed === 0) {
        if (byte <= LAST_ASCII) {
          if (byte === LINE_FEED) {
            this.#line += 1
            this.#column = 0
          }
        } else if (!this.#begin(byte)) return this.#foreign(byte)
      } else if (byte < this.#least || byte > this.#most) return this.#foreign(byte)
      else {
        this.#needed -= 1
        this.#least = FIRST_OF_MORE
        this.#most = LAST_OF_MORE
      }
    }
    return undefined
  }

  #begin(byte: number): boolean {
    if (byte < 0xc2 || byte > 0xf4) return false
    this.#needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
    // excludes overlong forms, surrogates, and code points beyond Unicode
    if (byte === 0xe0) this.#least = 0xa0
    else if (byte === 0xf0) this.#least = 0x90
    if (byte === 0xed) this.#most = 0x9f
    else if (byte === 0xf4) this.#most = 0x8f
    return true
  }

  #foreign(byte: number): ForeignByte {
    return { line: this.#line, column: this.#column, byte }
  }
}
