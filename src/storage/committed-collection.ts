/** Wraps a collection so that it writes through one function, which may add to a commit. */
import type { Collection, Committed, Document, Write } from './contract.ts'

export function committedCollection<D extends Document>(
  inner: Collection<D>,
  commit: (writes: readonly Write[]) => Promise<Committed>,
): Collection<D> {
  const resultOf = async (write: Write): Promise<number> => (await commit([write])).results[0] ?? 0
  return {
    ...inner,
    put: (id, value, expect) => resultOf(inner.putting(id, value, expect)),
    delete: async (id, expect) => (await resultOf(inner.deleting(id, expect))) === 1,
  }
}
