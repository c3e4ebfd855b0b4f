/** Walks over a collection in order of ids, a page at a time; concurrent writes may or may not be included. */
import type { Collection, Document, Query, Stored } from './contract.ts'

const PORTION = 1_000

/** Yields matching documents one by one, reading `size` documents at a time. */
export async function* walk<D extends Document>(
  collection: Pick<Collection<D>, 'find'>,
  where?: Query['where'],
  size?: number,
): AsyncGenerator<Stored<D>> {
  for await (const portion of portions(collection, where, size)) yield* portion
}

/** Yields matching documents, `size` at a time; a portion is never empty. */
export function portions<D extends Document>(
  collection: Pick<Collection<D>, 'find'>,
  where: Query['where'] = [],
  size = PORTION,
): AsyncGenerator<readonly Stored<D>[]> {
  return slices(
    size,
    (page) => collection.find({ where, ...page }),
    ({ id }) => id,
  )
}

/** Reads `size` documents at a time. */
export function portionsOfIds(
  collection: Pick<Collection<Document>, 'ids'>,
  where: Query['where'] = [],
  size = PORTION,
): AsyncGenerator<readonly string[]> {
  return slices(
    size,
    (page) => collection.ids({ where, ...page }),
    (id) => id,
  )
}

const SLICE = 1_000

/** First those up to a value, then the lowest until a given number is left. */
export async function forgetOldest<D extends Document>(
  collection: Collection<D>,
  field: string,
  { until, most }: { readonly until: number; readonly most: number },
): Promise<number> {
  const over = Math.max(0, (await collection.count()) - most)
  const old = await forget(collection, field, undefined, [{ field, op: 'lte', value: until }])
  return old + (over > old ? await forget(collection, field, over - old, []) : 0)
}

async function forget<D extends Document>(
  collection: Collection<D>,
  field: string,
  most: number | undefined,
  where: NonNullable<Query['where']>,
): Promise<number> {
  for (let gone = 0; ;) {
    const limit = Math.min(SLICE, (most ?? Number.POSITIVE_INFINITY) - gone)
    const ids = limit <= 0 ? [] : await collection.ids({ where, sort: [{ field }], limit })
    if (ids.length === 0) return gone
    await Promise.all(ids.map((id) => collection.delete(id)))
    gone += ids.length
  }
}

async function* slices<Item>(
  limit: number,
  read: (page: { readonly limit: number; readonly afterId?: string }) => Promise<readonly Item[]>,
  idOf: (item: Item) => string,
): AsyncGenerator<readonly Item[]> {
  for (let afterId: string | undefined; ;) {
    const found = await read({ limit, ...(afterId !== undefined && { afterId }) })
    const last = found.at(-1)
    if (last === undefined) return
    yield found
    if (found.length < limit) return
    afterId = idOf(last)
  }
}
