/** Stores answers to writes with an `Idempotency-Key`, per tenant, for a day. */
import { AppError } from '#kernel'
import { type Collection, type CollectionSpec, type Expectation, forgetOldest, type Store } from '#storage'

export interface KeptAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface KeyRecord {
  readonly print: string
  /** When the request arrived, epoch ms */
  readonly at: number
  /** `open`: in progress, or its host crashed; `lost`: completed without a stored answer */
  readonly state: 'open' | 'done' | 'lost'
  readonly answer?: KeptAnswer
}

export const ANSWER_KEYS: CollectionSpec<KeyRecord> = {
  name: 'answer_keys',
  version: 1,
  fields: { at: { type: 'number', of: ({ at }) => at } },
}

const DAY_MS = 86_400_000
/** Maximum number of keys per tenant; the oldest are removed first */
export const MAX_KEYS = 50_000
/** Interval between removals of expired keys of a tenant, in ms */
const SWEEP_MS = 600_000

export type Begun =
  { readonly kind: 'new'; readonly place: Place } | { readonly kind: 'done'; readonly answer: KeptAnswer }

export interface Place {
  readonly id: string
  readonly print: string
  readonly at: number
  readonly version: number
}

export class KeptAnswers {
  readonly #records: Collection<KeyRecord>
  #swept: number

  constructor(store: Store, now: number) {
    this.#records = store.collection(ANSWER_KEYS)
    this.#swept = now
  }

  /**
   * Throws `CONFLICT` if the key belongs to another request, or to one with an unknown outcome, unless `isRepeatable`.
   */
  async begin(id: string, print: string, now: number, isRepeatable: boolean): Promise<Begun> {
    const found = await this.#records.get(id)
    let expect: Expectation = found?.version ?? 'absent'
    if (found !== undefined && found.value.at > now - DAY_MS) {
      const { state, answer } = found.value
      if (found.value.print !== print) throw otherRequest()
      if (state === 'done' && answer !== undefined) return { kind: 'done', answer }
      if (!isRepeatable) throw state === 'open' ? unknown() : notKept()
      expect = found.version
    }
    const version = await this.#reserve(id, { print, at: now, state: 'open' }, expect)
    return { kind: 'new', place: { id, print, at: now, version } }
  }

  async #reserve(id: string, record: KeyRecord, expect: Expectation): Promise<number> {
    try {
      return await this.#records.put(id, record, expect)
    } catch (error) {
      if (error instanceof AppError && error.code === 'CONFLICT') throw elsewhere()
      throw error
    }
  }

  /** `answer` is undefined when it was too large or is unknown. */
  async done({ id, print, at, version }: Place, answer: KeptAnswer | undefined): Promise<void> {
    const state = answer === undefined ? 'lost' : 'done'
    await this.#records.put(id, { print, at, state, ...(answer && { answer }) }, version)
  }

  async free({ id, version }: Place): Promise<void> {
    await this.#records.delete(id, version)
  }

  async sweep(now: number): Promise<void> {
    if (Math.abs(now - this.#swept) < SWEEP_MS) return
    this.#swept = now
    await forgetOldest(this.#records, 'at', { until: now - DAY_MS, most: MAX_KEYS })
  }
}

export function otherRequest(): AppError {
  return new AppError('CONFLICT', 'Idempotency-Key: the key was used for another request; use a new one')
}

function unknown(): AppError {
  const text =
    'the outcome of the first request with this key is unknown, because its host stopped or an internal error occurred'
  return new AppError('CONFLICT', `Idempotency-Key: ${text}; check whether it took effect, then choose a new key`)
}

function notKept(): AppError {
  const text = 'the first request with this key was executed, but its response was too large to be stored, or too late'
  return new AppError('CONFLICT', `Idempotency-Key: ${text}; read the current state`)
}

function elsewhere(): AppError {
  return new AppError(
    'CONFLICT',
    'Idempotency-Key: a request with this key is in progress on another host; send it again',
  )
}
