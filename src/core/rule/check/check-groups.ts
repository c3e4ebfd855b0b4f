/** Checks that nodes with one state per member of a group are connected only where that has a meaning. */
import { at, shown } from '#kernel'
import { GroupTable } from '../../graph/groups.ts'
import type { RuleGraph, Sensor, TaskSettings, Trigger } from '../rule.ts'
import { labelsRead } from './check-bindings.ts'
import type { Report } from './report.ts'
import { naming, type PartialRule, type PlugEntry, type RuleIndex } from './rule-index.ts'

export function checkGroups(rule: PartialRule, index: RuleIndex, settings: TaskSettings, report: Report): void {
  const gathering = new Set(index.plugNodes.filter(({ plug }) => plug?.gathers === 'group').map(({ label }) => label))
  const groups = new GroupTable(whole(rule), ({ label }) => gathering.has(label))
  const isInGroup = (label: string): boolean => groups.of(label) !== -1
  rule.triggers?.forEach((trigger, i) => checkTrigger(trigger, at('', 'triggers', i), index, groups, report))
  for (const { label, path, node } of index.relations) {
    const { type, parentLabels = [], within, fresh } = node
    const counts = type === 'COUNT' || type === 'SHARE'
    const isOver = parentLabels.some(isInGroup)
    if (!isOver) {
      for (const [field, value] of Object.entries({ within, fresh })) {
        if (value === undefined || !counts) continue
        const message = `relation ${shown(label)}: ${field} needs a parent with a group`
        report.error('GROUP', at(path, field), message, 'omit it, or set the group of a sensor')
      }
    } else if (counts && parentLabels.length > 1) {
      const message = `relation ${shown(label)} counts the members of a group, and has ${parentLabels.length} parents`
      report.error('GROUP', at(path, 'parentLabels'), message, 'name one parent; combine several with AND or OR first')
    } else if (!counts && new Set(parentLabels.map((parent) => groups.of(parent))).size > 1) {
      const message = `relation ${shown(label)} has parents with and without the same group`
      report.error('GROUP', at(path, 'parentLabels'), message, 'count the members with COUNT or SHARE first')
    }
  }
  const members = index.plugNodes.filter(({ label }) => isInGroup(label))
  for (const entry of members) checkMember(entry, report)
  for (const entry of index.plugNodes) checkReads(entry, groups, report)
  for (const entry of index.plugNodes) {
    if (entry.plug?.gathers !== 'group') continue
    if (entry.node.group === undefined && entry.node.window === undefined)
      report.error(
        'GROUP',
        entry.path,
        `${naming(entry)} has neither a group nor a window`,
        'write the group of its members',
      )
    else checkMember(entry, report)
  }
  if (groups.size === 0) return
  if (settings.resetScope === 'task')
    report.error('GROUP', '/task/resetScope', 'a rule with a group cannot reset the whole task', 'omit resetScope')
  if (settings.type === 'onetime')
    report.error('GROUP', '/task/type', 'a task with a group cannot run only once', 'use reactive')
}

/** Returns the parts of a rule that determine its groups. */
function whole({ sensors = [], relations = [], triggers = [] }: PartialRule): RuleGraph {
  const graph = {
    sensors: sensors.filter(({ label }) => label !== undefined),
    relations: relations.flatMap((one) =>
      one.label === undefined ? [] : [{ ...one, parentLabels: one.parentLabels ?? [] }],
    ),
    triggers: triggers.filter(({ sourceLabel, destinationLabel }) => (sourceLabel ?? destinationLabel) !== undefined),
  }
  return graph as RuleGraph // the fields that groups depend on are present
}

function checkTrigger(
  { sourceLabel = '', destinationLabel = '', each = false }: Partial<Trigger>,
  path: string,
  index: RuleIndex,
  groups: GroupTable,
  report: Report,
): void {
  const source = index.nodes.get(sourceLabel)
  const destination = index.nodes.get(destinationLabel)
  if (source === undefined || destination === undefined || destination.kind === 'relation') return
  const naming = `trigger ${shown(sourceLabel)} -> ${shown(destinationLabel)}`
  const [from, to] = [groups.of(sourceLabel), groups.of(destinationLabel)]
  if (each && from === -1) {
    const message = `${naming}: each needs a source with one state per member of a group`
    report.error('GROUP', at(path, 'each'), message, 'omit it, or start from a sensor with a group')
  } else if (!each && from !== -1) {
    const message = `${naming}: the source has one state per member of its group`
    report.error('GROUP', path, message, 'write "each": true to fire for each member, or start from a COUNT or SHARE')
  } else if (from !== to) {
    const message = `${naming}: the destination has one state per member of a group, which the source lacks`
    report.error('GROUP', path, message, `let only sources of that group fire ${shown(destinationLabel)}`)
  } else if (each && destination.kind === 'sensor' && destination.node.group === undefined) {
    const hint = `write the group of ${shown(sourceLabel)} also into ${shown(destinationLabel)}`
    report.error('GROUP', path, `${naming}: each fires a sensor without a group`, hint)
  }
}

const UNFIT = [
  'pollingPeriod',
  'schedule',
  'loopDef',
  'pauseExecution',
  'tickTrigger',
] as const satisfies (keyof Sensor)[]

function checkMember(entry: PlugEntry, report: Report): void {
  const { node, path, kind, plug } = entry
  for (const field of UNFIT) {
    const value = node[field]
    if (value === undefined || value === false || (kind === 'actuator' && field === 'loopDef')) continue
    const message = `${naming(entry)}: ${field} is not possible for a node with one state per member of a group`
    report.error('GROUP', at(path, field), message, 'omit it: messages of the members run it')
  }
  if (plug?.channel !== undefined) {
    const message = `${naming(entry)}: ${plug.name} runs on the channel ${plug.channel}, which groups do not have`
    report.error('GROUP', at(path, 'group'), message, 'use a sensor of messages')
  }
  if (kind === 'actuator' && node.resource !== undefined && node.resource !== '$') {
    const message = `${naming(entry)} acts for each member of a group, and has the resource ${shown(node.resource)}`
    report.error('GROUP', at(path, 'resource'), message, 'omit it, or write "$" for the member')
  }
}

/** Checks that data with one value per member is read only for that member. */
function checkReads(entry: PlugEntry, groups: GroupTable, report: Report): void {
  const own = groups.of(entry.label)
  for (const label of labelsRead(entry)) {
    const other = groups.of(label)
    if (other === -1 || other === own) continue
    const message = `${naming(entry)} reads ${shown(label)}, which has one value per member of its group`
    report.error('GROUP', at(entry.path, 'properties'), message, 'read it in a node of the same group')
  }
}
