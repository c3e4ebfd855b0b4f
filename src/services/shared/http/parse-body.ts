/** Parses JSON bodies, limiting depth and rejecting prototype keys and infinite numbers. */
import { isUtf8 } from 'node:buffer'
import {
  AppError,
  at,
  countKeys,
  FORBIDDEN_KEYS,
  hasDigits,
  Issues,
  KEEPS_WRITTEN_INTEGERS,
  type LongInteger,
  longIntegersOf,
  MAX_JSON_DEPTH,
  messageOf,
  repeatedKeysOf,
  shownDigits,
  withWritten,
} from '#kernel'

/** Detect a number that may overflow: one with a large exponent, or with very many digits. */
const LARGE_EXPONENT = /[eE]\+?\d{3}/
const MAX_DIGITS = 308
const MAX_ISSUES = 100
const SUSPECT = [...FORBIDDEN_KEYS, String.raw`\u`]
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

export function bodyText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('NOT_JSON', 'The body is not JSON: it is not UTF-8')
  return bytes.toString()
}

/**
 * Parses a body. `levels`: greatest depth. Throws `NOT_JSON`, `TOO_LARGE` beyond that depth, and `VALIDATION` with all
 * integers that would lose digits, all duplicate keys, or all prototype keys and infinite numbers.
 */
export function parseBody(text: string, levels = MAX_JSON_DEPTH): unknown {
  return parse(text, levels, refuseLong, refuseTwice)
}

/** Parses a body of bytes like `parseBody`; returns any other body unchanged. */
export function readBody(body: unknown): unknown {
  if (!(body instanceof Uint8Array)) return body
  return parseBody(bodyText(Buffer.from(body.buffer, body.byteOffset, body.byteLength)))
}

/** Like `parseBody`, for messages: large integers keep their digits. */
export function parseMessages(text: string, levels = MAX_JSON_DEPTH): unknown {
  return parse(text, levels, KEEPS_WRITTEN_INTEGERS ? withWritten : refuseLong, refuseTwice)
}

/** Like `parseBody`, for rendered templates: the last of duplicate keys counts. */
export function parseRendered(text: string, levels = MAX_JSON_DEPTH): unknown {
  return parse(text, levels, KEEPS_WRITTEN_INTEGERS ? withWritten : refuseLong, () => undefined)
}

function parse(
  text: string,
  levels: number,
  withLong: (value: unknown, long: readonly LongInteger[]) => unknown,
  checkKeys: (text: string) => void,
): unknown {
  const { value, keys } = readPlain(text, levels)
  if (keys !== countKeys(value)) checkKeys(text)
  // escapes may hide a key from this search; they are rare enough to allow a full check
  const mayBeEndless = LARGE_EXPONENT.test(text) || hasDigits(text, MAX_DIGITS + 1)
  if (mayBeEndless || SUSPECT.some((word) => text.includes(word))) refuseUnstorable(value)
  const long = longIntegersOf(text)
  return long.length > 0 ? withLong(value, long) : value
}

/** Like JSON.parse. Throws `NOT_JSON`, or `TOO_LARGE` beyond the depth. */
export function parsePlain(text: string, levels = MAX_JSON_DEPTH): unknown {
  return readPlain(text, levels).value
}

function readPlain(text: string, levels: number): { readonly value: unknown; readonly keys: number } {
  const keys = keysIn(text, levels)
  if (keys < 0) {
    throw new AppError('TOO_LARGE', `The body nests deeper than ${levels} levels; use fewer levels`)
  }
  try {
    return { value: JSON.parse(text), keys }
  } catch (error) {
    throw new AppError('NOT_JSON', `The body is not JSON: ${messageOf(error)}`)
  }
}

function refuseLong(_value: unknown, long: readonly LongInteger[]): never {
  const issues = new Issues('NUMBER', MAX_ISSUES)
  for (const { steps, digits } of long) {
    const shown = shownDigits(digits)
    issues.wrong(
      at('', ...steps),
      `${shown} has more digits than a number can represent`,
      `send it as a text: "${shown}"`,
    )
  }
  const lines = issues.list.map(({ path, message, suggestion }) => `${path} <- ${message} (${suggestion ?? ''})`)
  throw new AppError('VALIDATION', lines.join('\n'), { issues: issues.list })
}

/** Counts the keys in the text; -1 beyond the depth. Scans the text, so that deep values are never built. */
function keysIn(text: string, levels: number): number {
  let level = 0
  let colons = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = endOfText(text, at)
    } else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      if (++level > levels) return -1
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) level--
    else if (char === COLON) colons++
  }
  return colons
}

function endOfText(text: string, start: number): number {
  let end = start
  do {
    end = text.indexOf('"', end + 1)
    if (end < 0) return text.length
  } while (isEscaped(text, end))
  return end
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}

function refuseTwice(text: string): void {
  const issues = new Issues('KEY', MAX_ISSUES)
  for (const steps of repeatedKeysOf(text)) {
    issues.wrong(at('', ...steps), 'the key occurs twice', 'keep one of its values')
  }
  const lines = issues.list.map(({ path, message, suggestion }) => `${path} <- ${message} (${suggestion ?? ''})`)
  throw new AppError('VALIDATION', lines.join('\n'), { issues: issues.list })
}

function refuseUnstorable(root: unknown): void {
  const issues = new Issues('KEY')
  const open: { value: unknown; path: string }[] = [{ value: root, path: '' }]
  for (let next = open.pop(); next !== undefined && issues.count < 100; next = open.pop()) {
    const { value, path } = next
    // JSON.stringify would turn the number into null
    if (value === Infinity || value === -Infinity) {
      issues.wrong(path, 'is a number beyond 1.8e308', 'send a smaller one, or null')
    }
    if (typeof value !== 'object' || value === null) continue
    for (const [key, part] of Object.entries(value)) {
      const keyPath = at(path, key)
      if (FORBIDDEN_KEYS.has(key) && !Array.isArray(value)) {
        issues.wrong(keyPath, `the key "${key}" is not allowed`)
      }
      open.push({ value: part, path: keyPath })
    }
  }
  if (issues.count === 0) return
  const text = issues.list.map(({ path, message }) => `${path || '/'} <- ${message}`).join('\n')
  throw new AppError('VALIDATION', text, { issues: issues.list })
}
