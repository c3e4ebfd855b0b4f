/** What happens to alarms by themselves: cleared, escalated, and let go a year after they were made. */
import { AppError } from '#kernel'
import { dueTime, PARTITION, type AlarmRecord } from './alarm-record.ts'
import type { AlarmWriter } from './alarm-writer.ts'
import type { AlarmCollections } from './collections.ts'

const KEPT_MS = 365 * 86_400_000
/** Alarms that are worked on at once. */
const PORTION = 200
/** Events that readers who come back can still have. */
const KEPT_EVENTS = 10_000

export class Housekeeping {
  readonly #collections: AlarmCollections
  readonly #writer: AlarmWriter
  /** epoch ms of the first thing that happens by itself, as far as it is known here */
  #nextDue = Number.POSITIVE_INFINITY

  constructor(collections: AlarmCollections, writer: AlarmWriter) {
    this.#collections = collections
    this.#writer = writer
  }

  /** An alarm is so now. */
  watch(alarm: AlarmRecord): void {
    this.#nextDue = Math.min(this.#nextDue, dueTime(alarm) ?? Number.POSITIVE_INFINITY)
  }

  /** What other processes wrote counts as well. */
  async readNextDue(): Promise<void> {
    const [first] = await this.#collections.alarms.find({
      where: [{ field: 'due', op: 'exists', value: true }],
      sort: [{ field: 'due' }],
      limit: 1,
    })
    this.#nextDue = (first && dueTime(first.value)) ?? Number.POSITIVE_INFINITY
  }

  /** Clears and escalates what is due. */
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

  /** Deletes what is a year old, without a word to anybody. */
  async letGo(now: number): Promise<void> {
    for (;;) {
      const old = await this.#collections.alarms.ids({
        where: [{ field: 'createTime', op: 'lt', value: now - KEPT_MS }],
        limit: PORTION,
      })
      await Promise.all(old.map((id) => this.#writer.remove(id).catch(unlessGone)))
      if (old.length < PORTION) return
    }
  }

  /** Lets go of events that were forwarded up to there. */
  async trimEvents(forwarded: number | undefined): Promise<void> {
    const { first, last } = await this.#collections.events.bounds(PARTITION)
    const upTo = Math.min(last - KEPT_EVENTS, forwarded ?? last)
    if (upTo >= first) await this.#collections.events.trim(PARTITION, upTo)
  }
}

/** Somebody else deleted it meanwhile. */
function unlessGone(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
}
