/** Operations of a caller on the alarms of their tenant. */
import { AppError, type Caller } from '#kernel'
import { machineTimers } from '#platform'
import type { AlarmWriter } from './alarm-writer.ts'
import { AlarmChange } from './alarm-schema.ts'
import type { AlarmRecord } from './alarm-record.ts'
import { batchApi, type BatchDependencies } from './batch-service.ts'
import type { AlarmCollections } from './collections.ts'
import type { EventTail } from './event-tail.ts'
import { causationOf } from './change-alarm.ts'
import type { Alarm, AlarmsApi, ChangeOptions, TimelineItem } from './contract.ts'
import { readQuery, readTimeline } from './read-query.ts'
import { showAll, showNewest, showWithHistory } from './show-alarm.ts'
import { timelineOf } from './timeline.ts'

const MAX_IN_TIMELINE = 10_000
const SLICE = 500

export interface AlarmApiDependencies extends BatchDependencies {
  readonly writer: AlarmWriter
  readonly tail: EventTail
  readonly now: () => number
}

export function alarmApi(dependencies: AlarmApiDependencies, caller: Caller): AlarmsApi {
  const { writer, tail, collections, now } = dependencies
  const shown = (alarm: AlarmRecord, { history }: ChangeOptions): Alarm | Promise<Alarm> =>
    history === 'newest' ? showNewest(alarm, now()) : showWithHistory(collections, alarm, now())
  return {
    raise: async (body, options = {}) => shown(await writer.raise(caller.user, body, options.cause), options),
    get: async (id) => showWithHistory(collections, await writer.stored(id), now()),
    update: async (id, body, options = {}) => {
      const { cause, ifRevision } = options
      writer.requireFewHops(cause)
      const change = AlarmChange.read(body)
      const mover = { causation: causationOf(cause), ifRevision, ...(cause && { effect: cause.effect, by: cause }) }
      return shown(await writer.change(id, change, mover), options)
    },
    remove: (id, options) => writer.remove(id, options),
    list: async (query) => {
      const { where, sort, page, size, withHistory } = readQuery(query)
      const [found, total] = await Promise.all([
        collections.alarms.find({ where, sort, offset: (page - 1) * size, limit: size }),
        collections.alarms.count(where),
      ])
      const records = found.map(({ value }) => value)
      const alarms = withHistory
        ? await showAll(collections, records, now())
        : records.map((record) => ({ ...showNewest(record, now()), history: [] }))
      return { total, page, size, alarms }
    },
    timeline: async (query) => timeline(collections, query, now()),
    why: async (id) => {
      const { user } = await writer.stored(id)
      const kept = (await collections.causes.get(id))?.value
      return { alarm: id, raisedBy: user, cause: kept?.cause ?? null, explanation: kept?.explanation ?? null }
    },
    events: (options) => tail.read(options),
    batches: batchApi(dependencies, caller),
  }
}

async function timeline(
  collections: AlarmCollections,
  query: Parameters<AlarmsApi['timeline']>[0],
  now: number,
): Promise<readonly TimelineItem[]> {
  const { where, from, to } = readTimeline(query)
  const total = await collections.alarms.count(where)
  if (total > MAX_IN_TIMELINE) {
    throw new AppError(
      'TOO_LARGE',
      `${total} alarms are too many for one timeline; narrow it down to ${MAX_IN_TIMELINE}`,
    )
  }
  const found = await collections.alarms.find({ where, sort: [{ field: 'createTime' }], limit: MAX_IN_TIMELINE })
  const alarms = await showAll(
    collections,
    found.map(({ value }) => value),
    now,
  )
  const items: TimelineItem[] = []
  for (const [i, alarm] of alarms.entries()) {
    for (const item of timelineOf(alarm)) if (item.timestamp >= from && item.timestamp <= to) items.push(item)
    if (i % SLICE === SLICE - 1) await machineTimers.breathe()
  }
  return items.sort((a, b) => a.timestamp - b.timestamp)
}
