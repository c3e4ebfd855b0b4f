/** Operations of a caller on the alarms of their tenant. */
import { AppError, type Caller, makeIssue, refuse } from '#kernel'
import { machineTimers } from '#platform'
import type { AlarmTypes } from './alarm-types.ts'
import type { AlarmWriter, Change } from './alarm-writer.ts'
import { AlarmChange } from './alarm-schema.ts'
import type { AlarmRecord } from './alarm-record.ts'
import { batchApi, type BatchDependencies } from './batch-service.ts'
import type { AlarmCollections } from './collections.ts'
import type { EventTail } from './event-tail.ts'
import { causationOf } from './change-alarm.ts'
import { countAlarms } from './count-alarms.ts'
import type { Alarm, AlarmComments, AlarmsApi, ChangeOptions, TimelineItem } from './contract.ts'
import { NewComment, Remark, Shelving } from './life-schema.ts'
import { holdsAt, textOfHold } from './holds.ts'
import type { Ancestors } from './parent-alarms.ts'
import { readGroups } from './read-groups.ts'
import { readFigures, readPeriod } from './read-figures.ts'
import { readQuery, readSelection, readTimeline, selected } from './read-query.ts'
import { showAll, showNewest, showWithHistory } from './show-alarm.ts'
import { timelineOf } from './timeline.ts'

const MAX_IN_TIMELINE = 10_000
const SLICE = 500

export interface AlarmApiDependencies extends BatchDependencies {
  readonly writer: AlarmWriter
  readonly tail: EventTail
  readonly types: AlarmTypes
  readonly ancestors: Ancestors | undefined
  readonly now: () => number
}

export function alarmApi(dependencies: AlarmApiDependencies, caller: Caller): AlarmsApi {
  const { writer, tail, types, collections, now } = dependencies
  const shown = (alarm: AlarmRecord, { history }: ChangeOptions): Alarm | Promise<Alarm> =>
    history === 'newest' ? showNewest(alarm, now()) : showWithHistory(collections, alarm, now())
  const changed = async (id: string, read: () => Change, options: ChangeOptions): Promise<Alarm> => {
    const { cause, ifRevision } = options
    writer.requireFewHops(cause)
    const mover = { user: caller.user, causation: causationOf(cause), ifRevision }
    const by = cause && { effect: cause.effect, by: cause }
    return shown(await writer.change(id, read(), { ...mover, ...by }), options)
  }
  return {
    raise: async (body, options = {}) => shown(await writer.raise(caller.user, body, options), options),
    get: async (id) => showWithHistory(collections, await writer.stored(id), now()),
    update: (id, body, options = {}) => changed(id, () => AlarmChange.read(body), options),
    acknowledge: (id, body = {}, options = {}) =>
      changed(id, () => ({ status: 'ACKNOWLEDGED', ...Remark.read(body) }), options),
    shelve: (id, body, options = {}) => changed(id, () => shelving(body, now()), options),
    unshelve: (id, body = {}, options = {}) => changed(id, () => ({ shelf: null, ...Remark.read(body) }), options),
    comment: (id, body, options = {}) => changed(id, () => ({ comment: NewComment.read(body).text }), options),
    comments: async (id) => commentsOf(await showWithHistory(collections, await writer.stored(id), now())),
    counts: (query) => countAlarms(collections, query),
    figures: async (query) => readFigures(collections, readPeriod(query, now())),
    groups: async (query) => readGroups(collections, readPeriod(query, now()), dependencies.ancestors),
    types: types.api(),
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
      const alarm = await writer.stored(id)
      const { user } = alarm
      const kept = (await collections.causes.get(id))?.value
      const explained = { cause: kept?.cause ?? null, explanation: kept?.explanation ?? null }
      const heldBack = alarm.status === 'CLEARED' ? [] : holdsAt(alarm, now()).map(textOfHold)
      return { alarm: id, raisedBy: user, ...explained, heldBack }
    },
    events: ({ where = {}, ...options }) => selected(tail.read(options), readSelection(where)),
    batches: batchApi(dependencies, caller),
  }
}

function shelving(body: unknown, now: number): Change {
  const shelf = Shelving.read(body)
  if (shelf.until > now) return { shelf, comment: shelf.reason }
  const message = `${new Date(shelf.until).toISOString()} is in the past`
  throw refuse('the shelving', [makeIssue('FIELD', '/until', message, 'name a later time')])
}

function commentsOf({ history }: Alarm): AlarmComments {
  const comments = history.flatMap(({ id, timestamp, user = '', comment }) =>
    comment === undefined ? [] : [{ id, time: timestamp, user, text: comment }],
  )
  return { total: comments.length, comments }
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
