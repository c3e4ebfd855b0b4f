/** Stores rejected payloads until they are retried or deleted. */
import { createHash } from 'node:crypto'
import { AppError, messageOf } from '#kernel'
import type { Collection, CollectionSpec, Condition, Store } from '#storage'
import type { RejectedList, RejectedPayload, RejectedQuery } from './converter-schema.ts'

/** maximum number of rejected payloads per converter; beyond that, payloads that cannot be converted are not acknowledged */
export const MAX_REJECTED = 1_000
const MAX_PAGE = 1_000

export interface RejectedRecord extends Omit<RejectedPayload, 'id' | 'time'> {
  readonly converter: string
  /** arrival time, epoch ms */
  readonly at: number
  readonly wildcards?: readonly string[]
  readonly key: string
}

const REJECTED: CollectionSpec<RejectedRecord> = {
  name: 'converter_rejected',
  version: 1,
  fields: { converter: { type: 'text', of: ({ converter }) => converter } },
}

export type Rejection = Omit<RejectedRecord, 'at' | 'tries' | 'error' | 'code' | 'line' | 'column'>

export class RejectedPayloads {
  readonly #records: Collection<RejectedRecord>

  constructor(store: Store) {
    this.#records = store.collection(REJECTED)
  }

  /** The same key always refers to the same record. */
  async add(rejection: Rejection, error: unknown, now: number): Promise<string> {
    const id = idOf(rejection.converter, rejection.key)
    const found = await this.#records.get(id)
    if (found !== undefined) {
      if (found.value.payload === rejection.payload) return id
      throw new AppError('CONFLICT', 'Idempotency-Key: the key was used for another payload; use a new one')
    }
    if ((await this.#records.count(ofConverter(rejection.converter))) >= MAX_REJECTED) {
      const text = `the converter has the maximum of ${MAX_REJECTED} rejected payloads; retry or delete them`
      throw new AppError('RATE_LIMITED', `${text}: ${messageOf(error)}`)
    }
    await this.#records.put(id, { ...rejection, at: now, tries: 1, ...faultOf(error) })
    return id
  }

  async list(converter: string, { limit = 100, after }: RejectedQuery): Promise<RejectedList> {
    const where = ofConverter(converter)
    const page = Math.min(limit, MAX_PAGE)
    const found = await this.#records.find({
      where,
      limit: page + 1,
      ...(after !== undefined && { afterId: after }),
    })
    const values = found.slice(0, page).map(({ id, value }) => shown(id, value))
    const next = found.length > page ? values.at(-1)?.id : undefined
    return { values, ...(next !== undefined && { next }), total: await this.#records.count(where) }
  }

  async some(converter: string, ids?: readonly string[]): Promise<readonly { id: string; value: RejectedRecord }[]> {
    if (ids === undefined) return this.#records.find({ where: ofConverter(converter), limit: MAX_PAGE })
    const found = await this.#records.getMany(ids.slice(0, MAX_PAGE))
    return found.filter(({ value }) => value.converter === converter)
  }

  async remove(converter: string, id: string): Promise<boolean> {
    const found = await this.#records.get(id)
    return found?.value.converter === converter && (await this.#records.delete(id))
  }

  async failedAgain(id: string, record: RejectedRecord, error: unknown): Promise<void> {
    const { line: _line, column: _column, ...rest } = record
    await this.#records.put(id, { ...rest, tries: record.tries + 1, ...faultOf(error) })
  }
}

function ofConverter(converter: string): readonly Condition[] {
  return [{ field: 'converter', op: 'eq', value: converter }]
}

function idOf(converter: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([converter, key]))
    .digest('hex')
    .slice(0, 32)
}

const MAX_ERROR = 1_000

function faultOf(error: unknown): Pick<RejectedRecord, 'error' | 'code' | 'line' | 'column'> {
  const { line, column } = error instanceof AppError ? (error.issues[0]?.details ?? {}) : {}
  return {
    error: messageOf(error).slice(0, MAX_ERROR),
    code: error instanceof AppError ? error.code : 'INTERNAL',
    ...(typeof line === 'number' && { line }),
    ...(typeof column === 'number' && { column }),
  }
}

function shown(id: string, record: RejectedRecord): RejectedPayload {
  const { at, converter: _converter, wildcards: _wildcards, key: _key, ...rest } = record
  return { id, time: new Date(at).toISOString(), ...rest }
}
