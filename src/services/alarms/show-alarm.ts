/** Converts stored alarms to the form in responses. */
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import type { AlarmRecord } from './alarm-record.ts'
import type { AlarmCollections } from './collections.ts'
import { type Hold, holdsAt, shelvedUntil, suppressionBy } from './holds.ts'
import { lifecycleOf } from './life-cycle.ts'
import type { ShownHold } from './life-schema.ts'
import type { Alarm, AuditRecord } from './alarm-schema.ts'
import { extrasOf } from './new-alarm.ts'
import { historyLength, newestHistory, revisionOf, fullHistories } from './history.ts'

const SLICE = 50
const MAX_RECORDS = 200_000

export async function showWithHistory(collections: AlarmCollections, alarm: AlarmRecord, now: number): Promise<Alarm> {
  const [history = []] = await fullHistories(collections, [alarm])
  return shown(alarm, history, now)
}

export function showNewest(alarm: AlarmRecord, now: number): Alarm {
  return shown(alarm, newestHistory(alarm), now)
}

export async function showAll(
  collections: AlarmCollections,
  alarms: readonly AlarmRecord[],
  now: number,
): Promise<readonly Alarm[]> {
  const records = alarms.reduce((sum, alarm) => sum + historyLength(alarm), 0)
  if (records > MAX_RECORDS) {
    throw new AppError('TOO_LARGE', `these alarms have ${records} history records; request fewer alarms at once`)
  }
  const all: Alarm[] = []
  for (let from = 0; from < alarms.length; from += SLICE) {
    if (from > 0) await machineTimers.breathe()
    const slice = alarms.slice(from, from + SLICE)
    const histories = await fullHistories(collections, slice)
    for (const [i, alarm] of slice.entries()) all.push(shown(alarm, histories[i] ?? [], now))
  }
  return all
}

function shown(alarm: AlarmRecord, history: readonly AuditRecord[], now: number): Alarm {
  const { id, type, text, source, status, severity, count, assignee, properties } = alarm
  const holds = status === 'CLEARED' ? [] : holdsAt(alarm, now)
  const snoozeUntil = shelvedUntil(holds)
  return {
    id,
    self: `/alarm/alarms/${id}`,
    creationTime: isoOf(alarm.createTime),
    lastUpdateTime: isoOf(alarm.updateTime),
    lastTriggeredTime: isoOf(alarm.triggerTime),
    type,
    timestamp: isoOf(alarm.timestamp),
    text,
    source,
    status,
    lifecycle: lifecycleOf(alarm),
    suppression: suppressionBy(holds),
    ...(alarm.isDiscarded && { discarded: true }),
    ...(holds.length > 0 && { holds: holds.map(shownHold) }),
    severity,
    count,
    revision: revisionOf(alarm),
    ...(assignee !== undefined && { assignee }),
    history,
    ...(properties && { additionalProperties: properties }),
    ...(snoozeUntil !== undefined && { snoozeUntil: isoOf(snoozeUntil) }),
    ...extrasOf(alarm),
  }
}

function shownHold({ suppression, by, since, until, reason }: Hold): ShownHold {
  return {
    suppression,
    by,
    since: isoOf(since),
    ...(until !== undefined && { until: isoOf(until) }),
    ...(reason !== undefined && { reason }),
  }
}

function isoOf(time: number): string {
  return new Date(time).toISOString()
}
