/** Makes automatic changes to alarms: clearing, escalation, and removal after a year. */
import { AppError } from '#kernel'
import { dueTime, PARTITION, type AlarmRecord } from './alarm-record.ts'
import type { AlarmWriter } from './alarm-writer.ts'
import type { AlarmCollections } from './collections.ts'

const KEPT_MS = 365 * 86_400_000
const PORTION = 200
const KEPT_EVENTS = 10_000

export class Housekeeping {
  readonly #collections: AlarmCollections
  readonly #writer: AlarmWriter
  /** epoch ms of the next known automatic change */
  #nextDue = Number.POSITIVE_INFINITY

  constructor(collections: AlarmCollections, writer: AlarmWriter) {
    this.#collections = collections
    this.#writer = writer
  }

  watch(alarm: AlarmRecord): void {
    this.#nextDue = Math.min(this.#nextDue, dueTime(alarm) ?? Number.POSITIVE_INFINITY)
  }

  async readNextDue(): Promise<void> {
    const [first] = await this.#collections.alarms.find({
      where: [{ field: 'due', op: 'exists', value: true }],
      sort: [{ field: 'due' }],
      limit: 1,
    })
    this.#nextDue = (first && dueTime(first.value)) ?? Number.POSITIVE_INFINITY
  }

  async doDue(now: number): Promise<void> {
    if (now < this.#nextDue) return
    for (;;) {
      const due = await this.#collections.alarms.find({
        where: [{ field: 'due', op: 'lte', value: now }],
        sort: [{ field: 'due' }],
        limit: PORTION,
      })
      await Promise.all(due.map(({ value }) => this.#writer.doDue(value)))
      if (due.length < PORTION) break
    }
    await this.readNextDue()
  }

  /** Deletes year-old alarms, without events. */
  async removeOld(now: number): Promise<void> {
    for (;;) {
      const old = await this.#collections.alarms.ids({
        where: [{ field: 'createTime', op: 'lt', value: now - KEPT_MS }],
        limit: PORTION,
      })
      await Promise.all(old.map((id) => this.#writer.remove(id).catch(ignoreMissing)))
      if (old.length < PORTION) return
    }
  }

  async trimEvents(forwarded: number | undefined): Promise<void> {
    const { first, last } = await this.#collections.events.bounds(PARTITION)
    const upTo = Math.min(last - KEPT_EVENTS, forwarded ?? last)
    if (upTo >= first) await this.#collections.events.trim(PARTITION, upTo)
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
}
