/** Stores rehearsals for a day: one document each, with results and events as texts in parts. */
import type { EngineEvent } from '#core'
import type { Collection, CollectionSpec, Store, Write } from '#storage'
import type { RehearsalAnswer, RehearsalSummary } from './rehearsal-schema.ts'

export interface RehearsalRecord extends RehearsalSummary {
  /** number of parts of the result; absent until the rehearsal has ended */
  readonly answerParts?: number
  readonly events?: number
  /** epoch ms */
  readonly removeTime: number
}

const REHEARSALS: CollectionSpec<RehearsalRecord> = {
  name: 'rehearsals',
  version: 1,
  fields: {
    task: { type: 'text', of: ({ task }) => task },
    status: { type: 'text', of: ({ status }) => status },
    createTime: { type: 'number', of: ({ createTime }) => createTime },
    removeTime: { type: 'number', of: ({ removeTime }) => removeTime },
  },
  together: [['task', 'createTime']],
}

interface RehearsalPartRecord {
  readonly text: string
}

const PARTS: CollectionSpec<RehearsalPartRecord> = { name: 'rehearsal_parts', version: 1, fields: {} }

/** characters per part, each at most three bytes long */
const PART = 200_000
export const EVENTS_OF_PART = 100
const AT_ONCE = 100

export class RehearsalDocuments {
  readonly #store: Store
  readonly #records: Collection<RehearsalRecord>
  readonly #parts: Collection<RehearsalPartRecord>

  constructor(store: Store) {
    this.#store = store
    this.#records = store.collection(REHEARSALS)
    this.#parts = store.collection(PARTS)
  }

  async get(id: string): Promise<RehearsalRecord | undefined> {
    return (await this.#records.get(id))?.value
  }

  async put(record: RehearsalRecord): Promise<void> {
    await this.#store.commit([this.#records.putting(record.id, record)])
  }

  async finish(record: RehearsalRecord, answer: RehearsalAnswer, events: readonly EngineEvent[]): Promise<void> {
    const text = JSON.stringify(answer)
    const writes: Write[] = []
    for (let from = 0, number = 0; from < text.length; from += PART, number++) {
      writes.push(this.#parts.putting(`${record.id}/answer/${number}`, { text: text.slice(from, from + PART) }))
    }
    const answerParts = writes.length
    for (let from = 0; from < events.length; from += EVENTS_OF_PART) {
      const some = JSON.stringify(events.slice(from, from + EVENTS_OF_PART))
      writes.push(this.#parts.putting(`${record.id}/events/${from / EVENTS_OF_PART}`, { text: some }))
    }
    while (writes.length > AT_ONCE) await this.#store.commit(writes.splice(0, AT_ONCE))
    const finished = { ...record, answerParts, events: events.length }
    await this.#store.commit([...writes, this.#records.putting(record.id, finished)])
  }

  async answer({ id, answerParts = 0 }: RehearsalRecord): Promise<RehearsalAnswer | undefined> {
    if (answerParts === 0) return undefined
    const found = await this.#parts.getMany(numbered(`${id}/answer`, 0, answerParts))
    return JSON.parse(found.map(({ value }) => value.text).join('')) as RehearsalAnswer
  }

  async events({ id, events = 0 }: RehearsalRecord, after: number, limit: number): Promise<readonly EngineEvent[]> {
    const first = Math.floor(after / EVENTS_OF_PART)
    const last = Math.ceil(Math.min(events, after + limit) / EVENTS_OF_PART)
    if (last <= first) return []
    const found = await this.#parts.getMany(numbered(`${id}/events`, first, last))
    const all = found.flatMap(({ value }) => JSON.parse(value.text) as readonly EngineEvent[])
    const skipped = after - first * EVENTS_OF_PART
    return all.slice(skipped, skipped + limit)
  }

  async ofTask(task: string, limit: number): Promise<readonly RehearsalRecord[]> {
    const found = await this.#records.find({
      where: [{ field: 'task', op: 'eq', value: task }],
      sort: [{ field: 'createTime', descending: true }],
      limit,
    })
    return found.map(({ value }) => value)
  }

  async running(): Promise<readonly RehearsalRecord[]> {
    const found = await this.#records.find({ where: [{ field: 'status', op: 'eq', value: 'running' }] })
    return found.map(({ value }) => value)
  }

  async remove({ id, answerParts = 0, events = 0 }: RehearsalRecord): Promise<void> {
    const parts = [
      ...numbered(`${id}/answer`, 0, answerParts),
      ...numbered(`${id}/events`, 0, Math.ceil(events / EVENTS_OF_PART)),
    ]
    await this.#store.commit(
      [...parts, id].map((one, i) => (i < parts.length ? this.#parts.deleting(one) : this.#records.deleting(one))),
    )
  }

  async removeOld(now: number): Promise<void> {
    const where = [{ field: 'removeTime', op: 'lt', value: now }] as const
    for (const { value } of await this.#records.find({ where, limit: AT_ONCE })) await this.remove(value)
  }
}

function numbered(prefix: string, from: number, until: number): readonly string[] {
  return Array.from({ length: Math.max(0, until - from) }, (_, i) => `${prefix}/${from + i}`)
}
