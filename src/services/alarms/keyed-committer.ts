/** Serializes work on the alarms of one key; work that waits shares a commit. */
import { type Actor, AppError } from '#kernel'
import { actingAs, currentActor, machineTimers } from '#platform'
import type { EffectDraft } from '#services/shared'
import type { Stored, Write } from '#storage'
import type { AlarmRecord, CauseRecord, HistoryRecord, KeyRecord } from './alarm-record.ts'
import type { AlarmCollections } from './collections.ts'
import type { AlarmEvent } from './contract.ts'
import { chunkIds, type Grown } from './history.ts'

/** Must be repeatable, and leave the draft unchanged when it throws. */
export type Work<T> = (draft: KeyDraft) => Promise<T> | T

interface Waiting {
  readonly actor: Actor | undefined
  readonly work: Work<unknown>
  resolve(answer: unknown): void
  reject(error: unknown): void
}

const MAX_AT_ONCE = 100
const MAX_TRIES = 50
const MAX_WAITING = 10_000

export class KeyedCommitter {
  readonly #now: () => number
  readonly #collections: AlarmCollections
  readonly #committed: (last: number, events: readonly AlarmEvent[]) => void
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #running = new Set<Promise<void>>()

  /** `now`: epoch ms. `committed` is called with the events of each commit and the position of the last event. */
  constructor(
    collections: AlarmCollections,
    now: () => number,
    committed: (last: number, events: readonly AlarmEvent[]) => void,
  ) {
    this.#collections = collections
    this.#now = now
    this.#committed = committed
  }

  run<T>(key: string, work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting: Waiting = { actor: currentActor(), work, resolve, reject }
      const list = this.#waiting.get(key)
      if (list === undefined) {
        this.#waiting.set(key, [waiting])
        const running = this.#drain(key).finally(() => this.#running.delete(running))
        this.#running.add(running)
      } else if (list.length < MAX_WAITING) list.push(waiting)
      else reject(new AppError('TOO_LARGE', `${MAX_WAITING} changes of this alarm are pending; send fewer at once`))
    })
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  async #drain(key: string): Promise<void> {
    const list = this.#waiting.get(key) ?? []
    while (list.length > 0) {
      const actor = list[0]?.actor
      // a commit has one actor, whose entry is in it
      const other = list.findIndex((one) => one.actor !== actor)
      const works = list.splice(0, Math.min(MAX_AT_ONCE, other < 0 ? Infinity : other))
      try {
        await actingAs(actor, () => this.#together(key, works))
      } catch (error) {
        for (const { reject } of works) reject(error)
      }
    }
    this.#waiting.delete(key)
  }

  async #together(key: string, works: readonly Waiting[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const draft = await KeyDraft.open(this.#collections, key, this.#now())
      const settled = await settle(draft, works)
      const writes = draft.writes()
      try {
        if (writes.length > 0) {
          const { results } = await this.#collections.commit(writes)
          if (draft.events.length > 0) this.#committed(results.at(-1) ?? 0, draft.events)
        }
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'CONFLICT' || tries >= MAX_TRIES) throw error
        await machineTimers.breathe()
        continue
      }
      for (const finish of settled) finish()
      return
    }
  }
}

async function settle(draft: KeyDraft, works: readonly Waiting[]): Promise<readonly (() => void)[]> {
  const settled: (() => void)[] = []
  for (const { work, resolve, reject } of works) {
    try {
      const answer = await work(draft)
      settled.push(() => resolve(answer))
    } catch (error) {
      settled.push(() => reject(error))
    }
  }
  return settled
}

interface Drafted {
  /** undefined: the alarm is removed */
  alarm: AlarmRecord | undefined
  readonly expect: Stored<AlarmRecord> | 'absent'
  isTouched: boolean
}

/** A draft of one commit on the alarms of one key, which requires that everything read is unchanged. */
export class KeyDraft {
  readonly events: AlarmEvent[] = []
  readonly effects: EffectDraft
  readonly #collections: AlarmCollections
  readonly #key: string
  readonly #drafted = new Map<string, Drafted>()
  readonly #chunks = new Map<string, readonly HistoryRecord[] | undefined>()
  readonly #causes = new Map<string, CauseRecord>()
  readonly #stored: Stored<KeyRecord> | undefined
  #latest: string | undefined

  private constructor(collections: AlarmCollections, key: string, now: number, stored: Stored<KeyRecord> | undefined) {
    this.#collections = collections
    this.effects = collections.effects.draft(now)
    this.#key = key
    this.#stored = stored
    this.#latest = stored?.value.alarm
  }

  /** `now`: epoch ms */
  static async open(collections: AlarmCollections, key: string, now: number): Promise<KeyDraft> {
    return new KeyDraft(collections, key, now, await collections.keys.get(key))
  }

  async latest(): Promise<AlarmRecord | undefined> {
    return this.#latest === undefined ? undefined : this.alarm(this.#latest)
  }

  async alarm(id: string): Promise<AlarmRecord | undefined> {
    const known = this.#drafted.get(id)
    if (known) return known.alarm
    const stored = await this.#collections.alarms.get(id)
    this.#drafted.set(id, { alarm: stored?.value, expect: stored ?? 'absent', isTouched: false })
    return stored?.value
  }

  add(alarm: AlarmRecord, cause: CauseRecord | undefined): void {
    this.#drafted.set(alarm.id, { alarm, expect: 'absent', isTouched: true })
    this.#latest = alarm.id
    if (cause) this.#causes.set(alarm.id, cause)
  }

  replace({ alarm, chunks }: Grown): void {
    this.#touch(alarm.id).alarm = alarm
    for (const [id, records] of chunks) this.#chunks.set(id, records)
  }

  remove(alarm: AlarmRecord): void {
    this.#touch(alarm.id).alarm = undefined
    for (const id of chunkIds(alarm)) this.#chunks.set(id, undefined)
    this.#causes.delete(alarm.id)
    if (this.#latest === alarm.id) this.#latest = undefined
  }

  /** Returns the writes of the draft; its events come last. */
  writes(): readonly Write[] {
    const { alarms, keys, chunks, causes, events } = this.#collections
    const writes: Write[] = []
    for (const [id, { alarm, expect, isTouched }] of this.#drafted) {
      if (!isTouched) continue
      if (alarm !== undefined) writes.push(alarms.putting(id, alarm, expect))
      else if (expect !== 'absent') writes.push(alarms.deleting(id, expect), causes.deleting(id))
    }
    const noted = this.effects.writes()
    if (writes.length === 0) return noted
    for (const [id, records] of this.#chunks) {
      writes.push(records === undefined ? chunks.deleting(id) : chunks.putting(id, { records }))
    }
    writes.push(...noted)
    for (const [id, cause] of this.#causes) writes.push(causes.putting(id, cause))
    if (this.#latest !== this.#stored?.value.alarm) {
      const expect = this.#stored ?? 'absent'
      if (this.#latest !== undefined) writes.push(keys.putting(this.#key, { alarm: this.#latest }, expect))
      else if (this.#stored) writes.push(keys.deleting(this.#key, expect))
    }
    if (this.events.length > 0) writes.push(events.appending(this.events.map((event) => ({ ...event }))))
    return writes
  }

  #touch(id: string): Drafted {
    const drafted = this.#drafted.get(id)
    if (drafted === undefined) throw new Error(`the alarm ${id} was not read before the write`)
    drafted.isTouched = true
    return drafted
  }
}
