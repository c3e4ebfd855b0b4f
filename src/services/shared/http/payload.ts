/**
 * JSON that devices send, as templates read it: nothing of it is stored but its text, so that it may have any key, and
 * whole numbers of any length. Objects whose keys a program would put into another order are Maps.
 */
import { hasDigits, isLongInteger } from '#kernel'
import { parsePlain } from './parse-body.ts'

/** 2^53 has as many digits. */
const LONG_DIGITS = 16
/** keys such as "7", which the language puts before all others, in ascending order */
const NUMBERED_KEY = /"(?:\d|\\u003\d)+"\s*:/
const SPACE = /[ \t\r\n]*/y
const TEXT = /"(?:[^"\\]|\\.)*"/y
const WORD = /[^\s,\]}]+/y

/** characters of a payload that is read in a few milliseconds, whatever it holds */
const SHORT = 32_768

/** A payload with the text that it came as. A long one is read when its value is first asked for. */
export class Payload {
  readonly text: string
  #read: { readonly value: unknown } | undefined

  /** Throws as `parsePayload` does for a short text. */
  constructor(text: string) {
    this.text = text
    if (text.length <= SHORT) this.#read = { value: parsePayload(text) }
  }

  /** Throws as `parsePayload` does. */
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

/** The value of a payload, and anything else as it is. */
export function payloadValue(given: unknown): unknown {
  return given instanceof Payload ? given.value : given
}

/** As JSON.parse, but for long whole numbers, which are bigints, and Maps. Throws `NOT_JSON`, or `TOO_LARGE` when it nests too deep. */
export function parsePayload(text: string): unknown {
  const plain = parsePlain(text)
  return hasDigits(text, LONG_DIGITS) || NUMBERED_KEY.test(text) ? new PayloadReader(text).value() : plain
}

/** Of a text that is known to be JSON. */
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
      // behind the bracket, or behind a comma
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
