/** Replaces secrets with their names in properties, so that values are never stored; each attempt inserts them. */
import { AppError, isPlainObject } from '#kernel'
import { plainText } from '../language/placeholders/text.ts'
import type { BindingUse } from '../language/placeholders/binding.ts'

/** Private-use characters of Unicode, which do not occur in rules and messages, delimit the name of a secret. */
const BEGIN = '\u{F0000}'
const END = '\u{F0001}'
const NAMED = new RegExp(`${BEGIN}([^${END}]*)${END}`, 'gu')

export function secretName(key: string): string {
  return `${BEGIN}${key}${END}`
}

export function withSecrets(
  properties: Readonly<Record<string, unknown>>,
  secrets: ReadonlyMap<string, unknown>,
  uses: readonly BindingUse[],
): Record<string, unknown> {
  const filled: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(properties)) {
    const whole = fill(value, (key) => secretOf(key, secrets, uses))
    if (whole !== undefined) filled[name] = whole
  }
  return filled
}

function secretOf(key: string, secrets: ReadonlyMap<string, unknown>, uses: readonly BindingUse[]): unknown {
  const value = secrets.get(key)
  const isWanted = uses.some(({ root, segments, optional }) => root === 'vault' && segments[0] === key && !optional)
  if (value !== undefined || !isWanted) return value
  throw new AppError('BINDING', `secret "${key}" does not exist; store it, or make it optional: \${?vault.${key}}`)
}

function fill(value: unknown, secret: (key: string) => unknown): unknown {
  if (typeof value === 'string') return fillText(value, secret)
  if (Array.isArray(value)) return value.map((one: unknown) => fill(one, secret))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, secret)]))
}

function fillText(text: string, secret: (key: string) => unknown): unknown {
  if (!text.includes(BEGIN)) return text
  const key = text.slice(BEGIN.length, -END.length)
  if (text === secretName(key) && !key.includes(BEGIN)) return secret(key)
  return text.replaceAll(NAMED, (_, name: string) => {
    const value = secret(name)
    return value === undefined ? '' : plainText(value)
  })
}
