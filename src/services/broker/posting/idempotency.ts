/** Keys of posts that were made, for a day: the same post again gives the first answer, and does nothing. */
import { createHash } from 'node:crypto'
import { AppError } from '#kernel'
import { type Collection, type CollectionSpec, type Expectation, forgetOldest, type Store, type Write } from '#storage'

interface KeyRecord {
  /** tells posts apart */
  readonly print: string
  /** epoch ms when the post came: read again as of then, it gives the same answer */
  readonly at: number
}

export const POST_KEYS: CollectionSpec<KeyRecord> = {
  name: 'broker_post_keys',
  version: 1,
  fields: { at: { type: 'number', of: ({ at }) => at } },
}

const DAY_MS = 86_400_000
/** keys of one tenant; the oldest go first when there are more */
const MAX_KEYS = 1_000_000
const MAX_CHARACTERS = 1_000

/** What a key says about a post. */
export type Known =
  | { readonly kind: 'done'; readonly at: number }
  /** to be committed with the post */
  | { readonly kind: 'new'; readonly write: Write }

export class PostKeys {
  readonly #records: Collection<KeyRecord>

  constructor(store: Store) {
    this.#records = store.collection(POST_KEYS)
  }

  /** `VALIDATION` for a key that cannot be one, `CONFLICT` for one that was used for another post. */
  async look(key: string, post: unknown, now: number): Promise<Known> {
    if (key === '' || key.length > MAX_CHARACTERS) {
      throw new AppError('VALIDATION', `Idempotency-Key: send 1 to ${MAX_CHARACTERS} characters`)
    }
    const id = digestOf(key)
    const print = digestOf(JSON.stringify(post) ?? '')
    const found = await this.#records.get(id)
    if (found !== undefined && found.value.at > now - DAY_MS) {
      if (found.value.print === print) return { kind: 'done', at: found.value.at }
      throw new AppError('CONFLICT', 'Idempotency-Key: it was used for another post; choose a new one')
    }
    const expect: Expectation = found === undefined ? 'absent' : found.version
    return { kind: 'new', write: this.#records.putting(id, { print, at: now }, expect) }
  }

  /** Lets go of those that count no more; gives how many. */
  sweep(now: number): Promise<number> {
    return forgetOldest(this.#records, 'at', { until: now - DAY_MS, most: MAX_KEYS })
  }
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
