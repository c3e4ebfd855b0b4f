/** Keeps the idempotency keys of posts for a day. A repeated post returns the first result and has no effect. */
import { createHash } from 'node:crypto'
import { AppError } from '#kernel'
import { type Collection, type CollectionSpec, type Expectation, forgetOldest, type Store, type Write } from '#storage'

interface KeyRecord {
  readonly print: string
  /** epoch ms of the post; reading the post again as of this time returns the same result */
  readonly at: number
}

export const POST_KEYS: CollectionSpec<KeyRecord> = {
  name: 'broker_post_keys',
  version: 1,
  fields: { at: { type: 'number', of: ({ at }) => at } },
}

const DAY_MS = 86_400_000
/** maximum number of keys; beyond it, the oldest are deleted */
const MAX_KEYS = 1_000_000
const MAX_CHARACTERS = 1_000

export type Known =
  | { readonly kind: 'done'; readonly at: number }
  /** `write` must be committed with the post */
  | { readonly kind: 'new'; readonly write: Write }

export class PostKeys {
  readonly #records: Collection<KeyRecord>

  constructor(store: Store) {
    this.#records = store.collection(POST_KEYS)
  }

  async look(key: string, post: unknown, now: number): Promise<Known> {
    if (key === '' || key.length > MAX_CHARACTERS) {
      throw new AppError('VALIDATION', `Idempotency-Key: send 1 to ${MAX_CHARACTERS} characters`)
    }
    const id = digestOf(key)
    const print = digestOf(JSON.stringify(post) ?? '')
    const found = await this.#records.get(id)
    if (found !== undefined && found.value.at > now - DAY_MS) {
      if (found.value.print === print) return { kind: 'done', at: found.value.at }
      throw new AppError('CONFLICT', 'Idempotency-Key: the key was used for another post; use a new one')
    }
    const expect: Expectation = found === undefined ? 'absent' : found.version
    return { kind: 'new', write: this.#records.putting(id, { print, at: now }, expect) }
  }

  sweep(now: number): Promise<number> {
    return forgetOldest(this.#records, 'at', { until: now - DAY_MS, most: MAX_KEYS })
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
