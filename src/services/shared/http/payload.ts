/** Keeps JSON of devices for templates; integer-like keys become Maps, since objects would not keep their order. */
import { hasDigits, isLongInteger } from '#kernel'
import { parsePlain } from './parse-body.ts'

const LONG_DIGITS = 16
/** matches keys such as "7", which objects sort to the front */
const NUMBERED_KEY = /"(?:\d|\\u003\d)+"\s*:/
const SPACE = /[ \t\r\n]*/y
const TEXT = /"(?:[^"\\]|\\.)*"/y
const WORD = /[^\s,\]}]+/y

/** maximum number of characters of a payload that parses within a few milliseconds */
const SHORT = 32_768

/** A payload with its text. A long payload is parsed on demand. */
export class Payload {
  readonly text: string
  #read: { readonly value: unknown } | undefined

  /** For a short text, throws like `parsePayload`. */
  constructor(text: string) {
    this.text = text
    if (text.length <= SHORT) this.#read = { value: parsePayload(text) }
  }

  /** Throws like `parsePayload`. */
  get value(): unknown {
    return (this.#read ??= { value: parsePayload(this.text) }).value
  }

  get isUnread(): boolean {
    return this.#read === undefined
  }

  toJSON(): string {
    return this.text
  }
}

export function payloadValue(value: unknown): unknown {
  return value instanceof Payload ? value.value : value
}

/** Like JSON.parse, but with bigints for long integers, and with Maps. */
export function parsePayload(text: string): unknown {
  const plain = parsePlain(text)
  return hasDigits(text, LONG_DIGITS) || NUMBERED_KEY.test(text) ? new PayloadReader(text).value() : plain
}

class PayloadReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(): unknown {
    this.#take(SPACE)
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object()
      case '[':
        return this.#list()
      case '"':
        return JSON.parse(this.#take(TEXT))
      default: {
        const word = this.#take(WORD)
        return isLongInteger(word) ? BigInt(word) : JSON.parse(word)
      }
    }
  }

  #object(): unknown {
    const entries = new Map<string, unknown>()
    this.#items('}', () => {
      const key = JSON.parse(this.#take(TEXT)) as string
      this.#take(SPACE)
      this.#at++
      entries.set(key, this.value())
    })
    const plain = Object.fromEntries(entries)
    const keys = Object.keys(plain)
    return [...entries.keys()].every((key, i) => key === keys[i]) ? plain : entries
  }

  #list(): unknown[] {
    const items: unknown[] = []
    this.#items(']', () => items.push(this.value()))
    return items
  }

  #items(end: string, read: () => void): void {
    for (;;) {
      // skip the bracket or comma
      this.#at++
      this.#take(SPACE)
      if (this.#text[this.#at] !== end) read()
      this.#take(SPACE)
      if (this.#text[this.#at] === end) break
    }
    this.#at++
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }
}
