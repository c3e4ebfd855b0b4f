/** Texts without the secrets that stand in them: values that a program or plug was given, as it got them or as it writes them in JSON or an address. */
import { isPlainObject } from './json.ts'

/** Shorter values stand in texts by chance. */
const LEAST = 4
/** of a value with several lines, which a log shows one by one */
const LEAST_LINE = 8
const IN_PLACE = '***'

export function redacting(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, ...linesOf(secret)]).flatMap(formsOf)
  // a value may stand in another one
  const known = [...new Set(forms)].filter((form) => form.length >= LEAST).toSorted((a, b) => b.length - a.length)
  if (known.length === 0) return (text) => text
  return (text) => known.reduce((told, form) => told.replaceAll(form, IN_PLACE), text)
}

/** The value with `redact` applied to each of its texts, keys included. */
export function redactedDeep(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((one: unknown) => redactedDeep(one, redact))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [redact(key), redactedDeep(one, redact)]))
}

function linesOf(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/)
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= LEAST_LINE)
}

function formsOf(text: string): readonly string[] {
  const inAddress = HALF_CHARACTER.test(text) ? [] : [encodeURIComponent(text)]
  return [text, JSON.stringify(text).slice(1, -1), ...inAddress]
}

/** what no address can hold */
const HALF_CHARACTER = /\p{Surrogate}/u
