/**
 * Works batch operations off: in parts of which each is stored when it is done, in slices that leave the loop free,
 * one operation per tenant at a time. After a crash the open part is done again; work that was done already counts.
 */
import { setImmediate } from 'node:timers/promises'
import type { Logger } from '../../core/ports.ts'
import { AppError, messageOf } from '../../kernel/errors.ts'
import { PART_SIZE, partId, type BatchPart, type BatchRecord } from './batch-record.ts'
import type { BatchEntry } from './batch-schema.ts'
import type { Books } from './books.ts'
import { Lanes } from '../../kernel/lanes.ts'
import { act } from './task-action.ts'
import type { TaskChanges } from './task-changes.ts'

/** Tasks between two breaths of the loop. */
const SLICE = 25
const PARTS_AT_ONCE = 20
const KEPT_MS = 7 * 86_400_000

export class BatchWorker {
  readonly #changes: (tenant: string) => TaskChanges
  readonly #now: () => number
  readonly #logger: Logger | undefined
  readonly #lanes = new Lanes()
  #open = 0
  #stopped = false

  /** `changes`: of a tenant's tasks */
  constructor(changes: (tenant: string) => TaskChanges, now: () => number, logger: Logger | undefined) {
    this.#changes = changes
    this.#now = now
    this.#logger = logger
  }

  /** operations that are not finished */
  get open(): number {
    return this.#open
  }

  /** Stores an operation over these tasks and begins it when its turn comes; `finished` resolves when it is over or left for later. */
  async queue(
    books: Books,
    batch: Omit<BatchRecord, 'parts' | 'done'>,
    ids: readonly string[],
  ): Promise<{ readonly finished: Promise<void> }> {
    this.#requireOpen()
    await this.#forgetOld(books)
    const parts = Math.ceil(ids.length / PART_SIZE)
    for (let from = 0; from < parts; from += PARTS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(PARTS_AT_ONCE, parts - from) }, (_, i) => from + i)
      await books.commit(
        numbers.map((number) =>
          books.parts.putting(partId(batch.id, number), {
            ids: ids.slice(number * PART_SIZE, (number + 1) * PART_SIZE),
          }),
        ),
      )
    }
    const record: BatchRecord = { ...batch, parts, done: 0 }
    await books.batches.put(batch.id, record, 'absent')
    return { finished: this.#enqueue(books, record, false) }
  }

  /** At start: goes on with what was under way. */
  async resume(books: Books): Promise<void> {
    const open = await books.batches.find({
      where: [{ field: 'state', op: 'eq', value: 'open' }],
      sort: [{ field: 'queueTime' }],
    })
    for (const { value } of open) void this.#enqueue(books, value, true)
  }

  /** What became of each task, in the order of the snapshot. */
  async results(books: Books, batch: BatchRecord): Promise<readonly (readonly [string, BatchEntry])[]> {
    const found: (readonly [string, BatchEntry])[] = []
    for (let from = 0; from < batch.parts; from += PARTS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(PARTS_AT_ONCE, batch.parts - from) }, (_, i) => from + i)
      const parts = await books.parts.getMany(numbers.map((number) => partId(batch.id, number)))
      for (const { value } of parts) value.ids.forEach((id, i) => found.push([id, value.results?.[i] ?? UNKNOWN]))
      await setImmediate()
    }
    return found
  }

  /** The slice under way is finished, the rest is left for the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#lanes.idle()
  }

  async #enqueue(books: Books, batch: BatchRecord, resumed: boolean): Promise<void> {
    this.#open++
    try {
      await this.#lanes.run(books.tenant, () => this.#work(books, batch, resumed))
    } catch (error) {
      this.#logger?.error(`batch operation ${batch.id} stopped: ${messageOf(error)}; it goes on at the next start`)
    } finally {
      this.#open--
    }
  }

  async #work(books: Books, batch: BatchRecord, resumed: boolean): Promise<void> {
    // the answer to the request comes first
    await setImmediate()
    for (let number = batch.done; number < batch.parts; number++) {
      const id = partId(batch.id, number)
      const part = await books.parts.get(id)
      if (part === undefined) throw new AppError('INTERNAL', `part ${number} of a batch operation is not stored`)
      const results = await this.#workOff(books, batch, part.value, resumed && number === batch.done)
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
    books: Books,
    batch: BatchRecord,
    { ids }: BatchPart,
    again: boolean,
  ): Promise<readonly BatchEntry[] | undefined> {
    const changes = this.#changes(books.tenant)
    const results: BatchEntry[] = []
    for (let from = 0; from < ids.length; from += SLICE) {
      if (this.#stopped) return undefined
      const slice = ids.slice(from, from + SLICE)
      const entries = slice.map((id) => act(changes, books, id, batch.action, batch.id, again))
      results.push(...(await Promise.all(entries)))
      await setImmediate()
    }
    return results
  }

  async #forgetOld(books: Books): Promise<void> {
    const old = await books.batches.find({
      where: [{ field: 'finishedTime', op: 'lt', value: this.#now() - KEPT_MS }],
      limit: 10,
    })
    for (const { id, value } of old) {
      for (let number = 0; number < value.parts; number++) await books.parts.delete(partId(id, number))
      await books.batches.delete(id)
    }
  }

  #requireOpen(): void {
    if (this.#stopped) throw new AppError('CLOSED', 'the host is shutting down; ask again when it is back')
  }
}

const UNKNOWN: BatchEntry = { statusCode: 500, error: 'the result is not stored' }
