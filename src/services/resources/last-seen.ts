/**
 * When resources were heard last. Readers see it at once; it is written now and then, so that a resource that talks all
 * the time does not cost a write for each message. What was not written when the process dies is lost.
 */
import { AppError } from '#kernel'
import type { TenantCollections } from './collections.ts'
import type { ResourceEntity } from './contract.ts'
import type { ResourceRecord } from './resource-record.ts'

/** of one commit: a conflict costs all of them */
const PORTION = 50

export class LastSeen {
  readonly #collections: TenantCollections
  /** the order is that of the first contact that is not written */
  readonly #unwritten = new Map<string, number>()

  constructor(collections: TenantCollections) {
    this.#collections = collections
  }

  heard(id: string, time: number): void {
    const before = this.#unwritten.get(id)
    if (before === undefined || before < time) this.#unwritten.set(id, time)
  }

  /** epoch ms, when it is not written yet */
  unwritten(id: string): number | undefined {
    return this.#unwritten.get(id)
  }

  /** After a write that knows of it, or a deletion. */
  written(id: string, time = Infinity): void {
    const waiting = this.#unwritten.get(id)
    if (waiting !== undefined && waiting <= time) this.#unwritten.delete(id)
  }

  /** A resource as it is with what is not written yet. */
  current(own: ResourceEntity): ResourceEntity {
    if (this.#unwritten.size === 0) return own
    const time = this.#unwritten.get(own.id)
    return time === undefined || !isLater(own, time) ? own : { ...own, lastMessageTimestamp: time }
  }

  /** Writes those that waited longest, at most `most`; gives the records as they are now. */
  async flush(most: number): Promise<readonly ResourceRecord[]> {
    const due: (readonly [string, number])[] = []
    for (const entry of this.#unwritten) {
      if (due.length >= most) break
      due.push(entry)
    }
    const written: ResourceRecord[] = []
    for (let at = 0; at < due.length; at += PORTION) {
      written.push(...(await this.#write(due.slice(at, at + PORTION))))
    }
    return written
  }

  async #write(due: readonly (readonly [string, number])[]): Promise<readonly ResourceRecord[]> {
    const { resources } = this.#collections
    const stored = new Map((await resources.getMany(due.map(([id]) => id))).map((each) => [each.id, each]))
    const next: { readonly record: ResourceRecord; readonly time: number; readonly version: number }[] = []
    for (const [id, time] of due) {
      const before = stored.get(id)
      if (before === undefined || !isLater(before.value.own, time)) {
        this.written(id, time)
        continue
      }
      const { value, version } = before
      const own = { ...value.own, lastMessageTimestamp: time }
      next.push({ record: { ...value, own, beats: (value.beats ?? 0) + 1 }, time, version })
    }
    try {
      await this.#collections.commit(
        next.map(({ record, version }) => resources.putting(record.own.id, record, version)),
      )
    } catch (error) {
      // whoever wrote meanwhile was faster; the next flush has another go
      if (error instanceof AppError && error.code === 'CONFLICT') return []
      throw error
    }
    for (const { record, time } of next) this.written(record.own.id, time)
    return next.map(({ record }) => record)
  }
}

function isLater(own: ResourceEntity, time: number): boolean {
  const known = own['lastMessageTimestamp']
  return typeof known !== 'number' || known < time
}
