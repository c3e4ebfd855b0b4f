/** Creates a record without a prototype, for keys from outside. */
export function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}
