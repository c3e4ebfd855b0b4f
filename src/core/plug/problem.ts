/** Issues of plug declarations, and the display of values in them. */
import { type Issue, makeIssue } from '#kernel'

const MAX_SHOWN = 80

export function problem(path: string, message: string, suggestion?: string): Issue {
  return makeIssue('PLUG', path, message, suggestion)
}

/** Short text of any value. Never throws. */
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
