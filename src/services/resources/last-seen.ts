/** Tracks when each resource was last in contact; a crash loses times that are not written yet. */
import type { Stored } from '#storage'
import type { ResourceCollections } from './collections.ts'
import type { ResourceEntity } from './contract.ts'
import { type ResourceRecord, writeBeats } from './resource-record.ts'

/** Writes per commit. Kept small, because a conflict makes the whole commit fail. */
const PORTION = 50

export class LastSeen {
  readonly #collections: ResourceCollections
  /** unwritten contacts by resource, in the order of each resource's first unwritten contact */
  readonly #unwritten = new Map<string, number>()

  constructor(collections: ResourceCollections) {
    this.#collections = collections
  }

  contacted(id: string, time: number): void {
    const before = this.#unwritten.get(id)
    if (before === undefined || before < time) this.#unwritten.set(id, time)
  }

  unwritten(id: string): number | undefined {
    return this.#unwritten.get(id)
  }

  /** Call after a write that includes the contact, or after a deletion. */
  written(id: string, time = Infinity): void {
    const waiting = this.#unwritten.get(id)
    if (waiting !== undefined && waiting <= time) this.#unwritten.delete(id)
  }

  current(own: ResourceEntity): ResourceEntity {
    if (this.#unwritten.size === 0) return own
    const time = this.#unwritten.get(own.id)
    return time === undefined || !isLater(own, time) ? own : { ...own, lastMessageTimestamp: time }
  }

  async flush(most: number): Promise<readonly string[]> {
    const due: (readonly [string, number])[] = []
    for (const entry of this.#unwritten) {
      if (due.length >= most) break
      due.push(entry)
    }
    const written: string[] = []
    for (let at = 0; at < due.length; at += PORTION) written.push(...(await this.#write(due.slice(at, at + PORTION))))
    return written
  }

  async #write(due: readonly (readonly [string, number])[]): Promise<readonly string[]> {
    const found = await this.#collections.resources.getMany(due.map(([id]) => id))
    const stored = new Map(found.map((each) => [each.id, each]))
    const next: Stored<ResourceRecord>[] = []
    for (const [id, time] of due) {
      const before = stored.get(id)
      if (before === undefined || !isLater(before.value.own, time)) this.written(id, time)
      else
        next.push({ ...before, value: { ...before.value, own: { ...before.value.own, lastMessageTimestamp: time } } })
    }
    // after a conflict, the next flush retries
    if (!(await writeBeats(this.#collections, next))) return []
    const times = new Map(due)
    for (const { id } of next) this.written(id, times.get(id))
    return next.map(({ id }) => id)
  }
}

function isLater(own: ResourceEntity, time: number): boolean {
  const known = own['lastMessageTimestamp']
  return typeof known !== 'number' || known < time
}
