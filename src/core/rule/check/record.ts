/** A record for keys from outside, without a prototype. */
export function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}
