/** Problems in the declaration of a plug, and how values are shown in them. */
import { type Issue, makeIssue } from '#kernel'

const MAX_SHOWN = 80

/** A problem in a plug's declaration. `path` is a JSON pointer into it. */
export function problem(path: string, message: string, suggestion?: string): Issue {
  return makeIssue('PLUG', path, message, suggestion)
}

/** Any value as short text for messages. Never throws. */
export function shown(value: unknown): string {
  const text = shownWhole(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text
}

function shownWhole(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'number') return String(value)
  try {
    return JSON.stringify(value) ?? 'nothing'
  } catch {
    return 'an object that is not JSON'
  }
}
