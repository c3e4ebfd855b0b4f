/**
 * Works batch operations off: in parts of which each is stored when it is done, in slices that leave the loop free,
 * one operation of a tenant at a time. After a crash the open part is done again; what was done already counts.
 */
import { setImmediate } from 'node:timers/promises'
import { AppError, messageOf } from '../../kernel/errors.ts'
import type { AlarmDesk } from './alarm-desk.ts'
import { PART_SIZE, partId, type BatchEntry, type BatchPart, type BatchRecord } from './batch-record.ts'
import type { AlarmsLogger } from './logger.ts'
import type { Office } from './office.ts'

/** Alarms between two breaths of the loop. */
const SLICE = 50
const PARTS_AT_ONCE = 20
const KEPT_MS = 7 * 86_400_000

export class BatchWorker {
  readonly #desk: AlarmDesk
  readonly #now: () => number
  readonly #logger: AlarmsLogger | undefined
  /** by tenant: settles when the last of its operations is over */
  readonly #tails = new Map<string, Promise<void>>()
  #open = 0
  #isStopped = false

  constructor(desk: AlarmDesk, now: () => number, logger: AlarmsLogger | undefined) {
    this.#desk = desk
    this.#now = now
    this.#logger = logger
  }

  /** operations that are not finished */
  get open(): number {
    return this.#open
  }

  /** Stores an operation over these alarms; it begins when its turn comes. */
  async queue(office: Office, batch: Omit<BatchRecord, 'parts' | 'done'>, ids: readonly string[]): Promise<void> {
    if (this.#isStopped) throw new AppError('CLOSED', 'the host is shutting down; ask again when it is back')
    const { books } = office
    const parts = Math.ceil(ids.length / PART_SIZE)
    for (let from = 0; from < parts; from += PARTS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(PARTS_AT_ONCE, parts - from) }, (_, i) => from + i)
      await books.commit(
        numbers.map((number) => {
          const some = ids.slice(number * PART_SIZE, (number + 1) * PART_SIZE)
          return books.parts.putting(partId(batch.id, number), { ids: some })
        }),
      )
    }
    const record: BatchRecord = { ...batch, parts, done: 0 }
    await books.batches.put(batch.id, record, 'absent')
    this.#enqueue(office, record, false)
  }

  /** At start: goes on with what was under way. */
  async resume(office: Office): Promise<void> {
    const open = await office.books.batches.find({
      where: [{ field: 'state', op: 'eq', value: 'open' }],
      sort: [{ field: 'queueTime' }],
    })
    for (const { value } of open) this.#enqueue(office, value, true)
  }

  /** What became of each alarm, in the order in which they were selected. */
  async results({ books }: Office, batch: BatchRecord): Promise<readonly (readonly [string, BatchEntry])[]> {
    const found: (readonly [string, BatchEntry])[] = []
    for (let from = 0; from < batch.parts; from += PARTS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(PARTS_AT_ONCE, batch.parts - from) }, (_, i) => from + i)
      const parts = await books.parts.getMany(numbers.map((number) => partId(batch.id, number)))
      for (const { value } of parts) value.ids.forEach((id, i) => found.push([id, value.results?.[i] ?? UNKNOWN]))
      await setImmediate()
    }
    return found
  }

  async forgetOld({ books }: Office): Promise<void> {
    const old = await books.batches.find({
      where: [{ field: 'finishedTime', op: 'lt', value: this.#now() - KEPT_MS }],
      limit: 100,
    })
    for (const { id, value } of old) {
      for (let number = 0; number < value.parts; number++) await books.parts.delete(partId(id, number))
      await books.batches.delete(id)
    }
  }

  /** Resolves when everything that was queued is over, or left for the next start. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values())
  }

  /** The slice under way is finished, the rest is left for the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.idle()
  }

  #enqueue(office: Office, batch: BatchRecord, isResumed: boolean): void {
    this.#open++
    const { tenant } = office.books
    const before = this.#tails.get(tenant) ?? Promise.resolve()
    const work = before
      .then(() => this.#work(office, batch, isResumed))
      .catch((error: unknown) => {
        this.#logger?.error(`batch operation ${batch.id} stopped: ${messageOf(error)}; it goes on at the next start`)
      })
      .finally(() => {
        this.#open--
        if (this.#tails.get(tenant) === work) this.#tails.delete(tenant)
      })
    this.#tails.set(tenant, work)
  }

  async #work(office: Office, batch: BatchRecord, isResumed: boolean): Promise<void> {
    // the answer to the request comes first
    await setImmediate()
    const { books } = office
    for (let number = batch.done; number < batch.parts; number++) {
      const id = partId(batch.id, number)
      const part = await books.parts.get(id)
      if (part === undefined) throw new AppError('INTERNAL', `part ${number} of a batch operation is not stored`)
      const results = await this.#workOff(office, batch, part.value, isResumed && number === batch.done)
      if (results === undefined) return
      const done = number + 1
      await books.commit([
        books.parts.putting(id, { ids: part.value.ids, results }),
        books.batches.putting(batch.id, {
          ...batch,
          done,
          ...(done === batch.parts && { finishedTime: this.#now() }),
        }),
      ])
    }
    if (batch.parts === 0) await books.batches.put(batch.id, { ...batch, finishedTime: this.#now() })
  }

  /** Undefined when the host stops before all are done. */
  async #workOff(
    office: Office,
    batch: BatchRecord,
    { ids }: BatchPart,
    isAgain: boolean,
  ): Promise<readonly BatchEntry[] | undefined> {
    const results: BatchEntry[] = []
    for (let from = 0; from < ids.length; from += SLICE) {
      if (this.#isStopped) return undefined
      const slice = ids.slice(from, from + SLICE)
      results.push(...(await Promise.all(slice.map((id) => this.#act(office, batch, id, isAgain)))))
      await setImmediate()
    }
    return results
  }

  async #act(office: Office, { id: batchId, action }: BatchRecord, id: string, isAgain: boolean): Promise<BatchEntry> {
    try {
      if (action.kind === 'update') {
        await this.#desk.change(office, id, action.change, { effect: `batch/${batchId}`, hops: 0 })
        return { statusCode: 200 }
      }
      await this.#desk.remove(office, id)
      return { statusCode: 204 }
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'CLOSED') throw error
      // it was there when the part was done the first time
      if (isAgain && action.kind === 'delete' && error.code === 'NOT_FOUND') return { statusCode: 204 }
      return { statusCode: error.status, error: error.message }
    }
  }
}

const UNKNOWN: BatchEntry = { statusCode: 500, error: 'the result is not stored' }
