/** Random moments at which a process dies. */
import fc from 'fast-check'

/** After how many messages the process dies, ascending: some of 1 to `messages`; shrinks to fewer and earlier deaths. */
export function crashPoints(messages: number): fc.Arbitrary<readonly number[]> {
  return fc
    .uniqueArray(fc.integer({ min: 1, max: Math.max(1, messages) }), { minLength: 1, maxLength: 5 })
    .map((points) => points.toSorted((a, b) => a - b))
}
