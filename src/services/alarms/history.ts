/** The history of an alarm: its creation, all updates, and the latest thousand repeats. */
import type { AlarmRecord, HistoryRecord } from './alarm-record.ts'
import type { AlarmCollections } from './collections.ts'
import type { AuditRecord } from './alarm-schema.ts'
import { COMMENTED, OCCURRED_AGAIN, RAISED, RECORD_TEXTS, UPDATED } from './words.ts'

export const KEPT_REPEATS = 1000
const CHUNK = 32
const CHUNKS_AT_ONCE = 1000

/** An alarm with one more record; each chunk is new, or undefined to remove it. */
export interface Grown {
  readonly alarm: AlarmRecord
  readonly chunks: ReadonlyMap<string, readonly HistoryRecord[] | undefined>
}

const UNTOUCHED: Grown['chunks'] = new Map()

export function withRepeat(alarm: AlarmRecord, id: string, time: number): Grown {
  const tail = [...alarm.repeatTail, { id, time, place: revisionOf(alarm) }]
  const grown = { ...alarm, count: alarm.count + 1 }
  if (tail.length < CHUNK) return { alarm: { ...grown, repeatTail: tail }, chunks: UNTOUCHED }
  const repeats = alarm.count
  const chunks = new Map<string, readonly HistoryRecord[] | undefined>([
    [repeatChunk(alarm.id, repeats / CHUNK - 1), tail],
  ])
  const oldest = firstRepeatChunk(repeats)
  if (oldest > 0) chunks.set(repeatChunk(alarm.id, oldest - 1), undefined)
  return { alarm: { ...grown, repeatTail: [] }, chunks }
}

export function withUpdate(alarm: AlarmRecord, record: Omit<HistoryRecord, 'place'>): Grown {
  const tail = [...alarm.updateTail, { ...record, place: revisionOf(alarm) }]
  const updates = alarm.updates + 1
  if (tail.length < CHUNK) return { alarm: { ...alarm, updates, updateTail: tail }, chunks: UNTOUCHED }
  const chunks = new Map([[updateChunk(alarm.id, updates / CHUNK - 1), tail]])
  return { alarm: { ...alarm, updates, updateTail: [] }, chunks }
}

export function historyLength({ count, updates }: AlarmRecord): number {
  return 1 + Math.min(count - 1, KEPT_REPEATS) + updates
}

/** Counts all records ever made; the count is the index of the next record, and the version for clients. */
export function revisionOf({ count, updates }: AlarmRecord): number {
  return count + updates
}

export function chunkIds({ id, count, updates }: AlarmRecord): readonly string[] {
  const ids: string[] = []
  const repeats = count - 1
  for (let n = firstRepeatChunk(repeats); n < Math.floor(repeats / CHUNK); n++) ids.push(repeatChunk(id, n))
  for (let n = 0; n < Math.floor(updates / CHUNK); n++) ids.push(updateChunk(id, n))
  return ids
}

export function newestHistory(alarm: AlarmRecord): readonly AuditRecord[] {
  return shown(alarm, alarm.repeatTail, alarm.updateTail)
}

export async function fullHistories(
  collections: AlarmCollections,
  alarms: readonly AlarmRecord[],
): Promise<readonly (readonly AuditRecord[])[]> {
  const idsOfEach = alarms.map((alarm) => chunkIds(alarm))
  const stored = await readChunks(collections, idsOfEach.flat())
  return alarms.map((alarm, i) => {
    const repeats: HistoryRecord[] = []
    const updates: HistoryRecord[] = []
    for (const id of idsOfEach[i] ?? []) {
      const list = id.startsWith('r', alarm.id.length + 1) ? repeats : updates
      list.push(...(stored.get(id) ?? []))
    }
    repeats.push(...alarm.repeatTail)
    updates.push(...alarm.updateTail)
    return shown(alarm, repeats.slice(-KEPT_REPEATS), updates)
  })
}

async function readChunks(
  collections: AlarmCollections,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly HistoryRecord[]>> {
  const found = new Map<string, readonly HistoryRecord[]>()
  for (let from = 0; from < ids.length; from += CHUNKS_AT_ONCE) {
    const some = await collections.chunks.getMany(ids.slice(from, from + CHUNKS_AT_ONCE))
    for (const { id, value } of some) found.set(id, value.records)
  }
  return found
}

function shown(
  alarm: AlarmRecord,
  repeats: readonly HistoryRecord[],
  updates: readonly HistoryRecord[],
): readonly AuditRecord[] {
  const records: AuditRecord[] = [{ ...audit(RAISED, alarm.raisedId, alarm.createTime), user: alarm.user }]
  let at = 0
  for (const update of updates) {
    for (let repeat = repeats[at]; repeat !== undefined && repeat.place < update.place; repeat = repeats[++at]) {
      records.push(audit(OCCURRED_AGAIN, repeat.id, repeat.time))
    }
    const { id, time, changes = [], user, comment } = update
    records.push({
      ...audit(changes.length === 0 && comment !== undefined ? COMMENTED : UPDATED, id, time),
      ...((changes.length > 0 || comment === undefined) && { changes }),
      ...(user !== undefined && { user }),
      ...(comment !== undefined && { comment }),
    })
  }
  for (const { id, time } of repeats.slice(at)) records.push(audit(OCCURRED_AGAIN, id, time))
  return records
}

function audit(type: string, id: string, time: number): AuditRecord {
  return { id, type, text: RECORD_TEXTS[type] ?? type, timestamp: new Date(time).toISOString() }
}

function firstRepeatChunk(repeats: number): number {
  const whole = Math.floor(repeats / CHUNK) * CHUNK
  return Math.max(0, Math.floor((whole - KEPT_REPEATS) / CHUNK))
}

const repeatChunk = (id: string, n: number): string => `${id}/r${n}`
const updateChunk = (id: string, n: number): string => `${id}/u${n}`
