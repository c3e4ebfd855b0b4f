/** A record that takes any key from outside: nothing is inherited, so nothing can be reached by name. */
export function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}
