/** All documents of a collection, whatever their number. */
import type { Collection, Document, Query, Stored } from './contract.ts'

const PORTION = 1_000

/** Those that fit, by id, `portion` at a time: what is written meanwhile may be among them or not. */
export async function* walk<D extends Document>(
  collection: Pick<Collection<D>, 'find'>,
  where: Query['where'] = [],
  portion = PORTION,
): AsyncGenerator<Stored<D>> {
  for (let afterId: string | undefined; ;) {
    const found = await collection.find({ where, limit: portion, ...(afterId !== undefined && { afterId }) })
    yield* found
    afterId = found.at(-1)?.id
    if (found.length < portion || afterId === undefined) return
  }
}
