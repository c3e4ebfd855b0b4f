/** What became of the resources that an operation is about, as status answers show it. */

export interface ItemResult {
  readonly statusCode: number
  readonly error?: string
}

/** By the ids of the resources. */
export interface ItemResults {
  readonly success: Readonly<Record<string, ItemResult>>
  readonly failure: Readonly<Record<string, ItemResult>>
}

const UNKNOWN: ItemResult = { statusCode: 500, error: 'the result is not stored' }

type Entry = readonly [id: string, result: ItemResult | undefined]

/** Of each entry of the lists, in their order; a result that is not there was not stored. */
export async function itemResults(...lists: readonly (AsyncIterable<Entry> | Iterable<Entry>)[]): Promise<ItemResults> {
  const [success, failure] = [emptyResults(), emptyResults()]
  for (const list of lists) {
    for await (const [id, result = UNKNOWN] of list) {
      if (result.statusCode < 400) success[id] = result
      else failure[id] = result
    }
  }
  return { success, failure }
}

/** Ids are text from outside: no prototype. */
function emptyResults(): Record<string, ItemResult> {
  return Object.create(null) as Record<string, ItemResult>
}
