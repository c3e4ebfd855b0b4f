/** Collects the results of an operation by resource, for responses with a status per item. */

export interface ItemResult {
  readonly statusCode: number
  readonly error?: string
}

export interface ItemResults {
  readonly success: Readonly<Record<string, ItemResult>>
  readonly failure: Readonly<Record<string, ItemResult>>
}

const UNKNOWN: ItemResult = { statusCode: 500, error: 'the result is not stored' }

type Entry = readonly [id: string, result: ItemResult | undefined]

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

/** Has no prototype, since ids are outside texts. */
function emptyResults(): Record<string, ItemResult> {
  return Object.create(null) as Record<string, ItemResult>
}
