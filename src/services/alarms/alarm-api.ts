/** What one caller can do with the alarms of its tenant. */
import { AppError, type Caller } from '#kernel'
import type { JobQueue } from '#jobs'
import { machineTimers } from '#platform'
import type { AlarmWriter } from './alarm-writer.ts'
import { AlarmChange } from './alarm-schema.ts'
import type { AlarmRecord } from './alarm-record.ts'
import { batchApi } from './batch-service.ts'
import { ledBy } from './change-alarm.ts'
import type { Alarm, AlarmsApi, ChangeOptions, TimelineItem } from './contract.ts'
import type { TenantAlarms } from './tenant-alarms.ts'
import { readQuery, readTimeline } from './read-query.ts'
import { showAll, showNewest, showWhole } from './show-alarm.ts'
import { timelineOf } from './timeline.ts'

/** Alarms of one timeline. */
const MAX_IN_TIMELINE = 10_000
const SLICE = 500

export interface AlarmApiDependencies {
  readonly writer: AlarmWriter
  readonly jobs: (tenant: string) => JobQueue
  readonly now: () => number
  readonly newId: () => string
  readonly tenantAlarms: () => Promise<TenantAlarms>
  /** counts the streams that are open */
  readonly streaming: (by: 1 | -1) => void
}

export function alarmApi(dependencies: AlarmApiDependencies, caller: Caller): AlarmsApi {
  const { writer, now, tenantAlarms } = dependencies
  const shown = async (alarm: AlarmRecord, { history }: ChangeOptions): Promise<Alarm> =>
    history === 'newest' ? showNewest(alarm, now()) : showWhole((await tenantAlarms()).collections, alarm, now())
  return {
    raise: async (body, options = {}) =>
      shown(await writer.raise(await tenantAlarms(), caller.user, body, options.cause), options),
    get: async (id) => {
      const opened = await tenantAlarms()
      return showWhole(opened.collections, await writer.stored(opened, id), now())
    },
    update: async (id, body, options = {}) => {
      const { cause, ifRevision } = options
      writer.requireFewHops(cause)
      const change = AlarmChange.read(body)
      const mover = { led: ledBy(cause), ifRevision, ...(cause && { effect: cause.effect, by: cause }) }
      return shown(await writer.change(await tenantAlarms(), id, change, mover), options)
    },
    remove: async (id, options) => writer.remove(await tenantAlarms(), id, options),
    list: async (query) => {
      const { where, sort, page, size, withHistory } = readQuery(query)
      const { collections } = await tenantAlarms()
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
    timeline: async (query) => timeline(await tenantAlarms(), query, now()),
    why: async (id) => {
      const opened = await tenantAlarms()
      const { user } = await writer.stored(opened, id)
      const kept = (await opened.collections.causes.get(id))?.value
      return { alarm: id, raisedBy: user, cause: kept?.cause ?? null, explanation: kept?.explanation ?? null }
    },
    events: (options) => streamed(dependencies, options),
    batches: batchApi(dependencies, caller),
  }
}

async function timeline(
  { collections }: TenantAlarms,
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

async function* streamed(
  { tenantAlarms, streaming }: AlarmApiDependencies,
  options: Parameters<AlarmsApi['events']>[0],
): ReturnType<TenantAlarms['tail']['read']> {
  streaming(1)
  try {
    yield* (await tenantAlarms()).tail.read(options)
  } finally {
    streaming(-1)
  }
}
