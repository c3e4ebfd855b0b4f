/** Masks secrets in texts, whether plain, escaped for JSON, or percent-encoded. */
import { isPlainObject } from './json.ts'

/** Length below which a secret is not masked, since it would match unrelated texts by chance. */
const LEAST = 4
/** shortest line of a multi-line secret that is masked separately, since logs split lines */
const LEAST_LINE = 8
const IN_PLACE = '***'

export function redacting(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, ...linesOf(secret)]).flatMap(formsOf)
  // longest first, since one value may contain another
  const known = [...new Set(forms)].filter((form) => form.length >= LEAST).toSorted((a, b) => b.length - a.length)
  if (known.length === 0) return (text) => text
  return (text) => known.reduce((redacted, form) => redacted.replaceAll(form, IN_PLACE), text)
}

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

const HALF_CHARACTER = /\p{Surrogate}/u
