/** Validates the headers of a request. */
import { CallError } from '#plug'

const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const DECIDED = new Set(['host', 'content-length', 'transfer-encoding', 'connection'])

/** Checks that each header is one line of text, and rejects headers that the transport sets. Throws `PLUG_FAILED`. */
export function headersOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER.test(name) || DECIDED.has(name.toLowerCase())) {
      const shown = JSON.stringify(name.slice(0, 100))
      throw new CallError(`${shown} is not allowed as a header; use one such as Authorization`, { isFinal: true })
    }
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    if (typeof text !== 'string' || /[\r\n\0]/.test(text)) {
      throw new CallError(`the header ${name} is not one line of text`, { isFinal: true })
    }
    result[name] = text
  }
  return result
}
