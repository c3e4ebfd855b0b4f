/** Groups the alarms of a period for people who face a flood. */
import type { AlarmRecord } from './alarm-record.ts'
import { AlarmGroups, type GroupedBy } from './alarm-groups.ts'
import { SEVERITIES, type Severity } from './alarm-schema.ts'
import type { AlarmCollections } from './collections.ts'
import type { AlarmGroupList } from './figures-schema.ts'
import type { Period } from './figures.ts'
import type { Ancestors } from './parent-alarms.ts'
import { portionsOf } from './read-figures.ts'

const MAX_GROUPS = 100
const MAX_IDS = 100

interface Group {
  readonly first: AlarmRecord
  last: number
  severity: Severity
  readonly ids: string[]
  alarms: number
  readonly by: Record<GroupedBy, number>
}

/** Largest groups first. Throws `TOO_LARGE` above 200,000 alarms. */
export async function readGroups(
  collections: AlarmCollections,
  period: Period,
  ancestors: Ancestors | undefined,
): Promise<AlarmGroupList> {
  const groups = new Map<string, Group>()
  const grouping = new AlarmGroups()
  for await (const portion of portionsOf(collections, period)) {
    const causes = await collections.causes.getMany(portion.map(({ id }) => id))
    const rules = new Map(causes.map(({ id, value }) => [id, value.cause.node]))
    for (const alarm of portion) {
      const { id, source, type, createTime: time, severity } = alarm
      const node = rules.get(id)
      const above = (await ancestors?.(source.id)) ?? []
      // tasks of one rule have the same nodes
      const rule = node === undefined ? undefined : JSON.stringify([type, node])
      const { group, by } = grouping.add({ id, time, source: source.id, ancestors: above, rule })
      const known = groups.get(group) ?? emptyGroup(alarm)
      groups.set(group, known)
      known.alarms++
      known.last = time
      if (known.ids.length < MAX_IDS) known.ids.push(id)
      if (by !== undefined) known.by[by]++
      if (SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(known.severity)) known.severity = severity
    }
  }
  const all = [...groups.values()].sort((a, b) => b.alarms - a.alarms || a.first.createTime - b.first.createTime)
  return { total: all.length, groups: all.slice(0, MAX_GROUPS).map(shown) }
}

function emptyGroup(first: AlarmRecord): Group {
  const by = { rule: 0, tree: 0, time: 0 }
  return { first, last: first.createTime, severity: first.severity, ids: [], alarms: 0, by }
}

function shown({ first, last, severity, ids, alarms, by }: Group): AlarmGroupList['groups'][number] {
  return {
    group: first.id,
    source: first.source.id,
    type: first.type,
    from: new Date(first.createTime).toISOString(),
    until: new Date(last).toISOString(),
    severity,
    alarms,
    by,
    ids,
  }
}
