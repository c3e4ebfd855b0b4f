/** A draft of one commit on the alarms of one key, which requires that everything read is unchanged. */
import type { EffectDraft } from '#services/shared'
import type { Expectation, Stored, Write } from '#storage'
import { PARTITION, type AlarmRecord, type CauseRecord, type HistoryRecord, type KeyRecord } from './alarm-record.ts'
import type { AlarmCollections } from './collections.ts'
import type { AlarmEvent } from './contract.ts'
import { chunkIds, type Grown } from './history.ts'

interface Drafted {
  /** undefined: the alarm is removed */
  alarm: AlarmRecord | undefined
  readonly expect: Expectation
  isTouched: boolean
}

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
    this.#drafted.set(id, { alarm: stored?.value, expect: stored?.version ?? 'absent', isTouched: false })
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
      const expect = this.#stored?.version ?? 'absent'
      if (this.#latest !== undefined) writes.push(keys.putting(this.#key, { alarm: this.#latest }, expect))
      else if (this.#stored) writes.push(keys.deleting(this.#key, expect))
    }
    if (this.events.length > 0)
      writes.push(
        events.appending(
          PARTITION,
          this.events.map((event) => ({ ...event })),
        ),
      )
    return writes
  }

  #touch(id: string): Drafted {
    const drafted = this.#drafted.get(id)
    if (drafted === undefined) throw new Error(`the alarm ${id} was not read before the write`)
    drafted.isTouched = true
    return drafted
  }
}
