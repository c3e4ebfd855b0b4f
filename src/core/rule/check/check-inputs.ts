/** Checks which readings a sensor observes: its group, its window, and values for missing inputs. */
import { at, DURATION_PATTERN, durationMs, shown } from '#kernel'
import type { Group, Sensor, Window } from '../rule.ts'
import type { Report } from './report.ts'
import { naming, type PlugEntry, type RuleIndex } from './rule-index.ts'

const SETS = ['type', 'parent', 'tag', 'query', 'resources'] as const
const WINDOWS = ['sliding', 'tumbling', 'session', 'calendar'] as const

export function checkInputs(index: RuleIndex, report: Report): void {
  for (const entry of index.plugNodes) {
    if (entry.kind !== 'sensor') continue
    const { group, window, hold, default: values } = entry.node
    if (group !== undefined) checkGroup(entry, group, report)
    if (window !== undefined) checkWindow(entry, window, report)
    if (hold !== undefined) checkHold(entry, hold, report)
    if (values !== undefined) checkDefaults(entry, values, report)
    checkNames(entry, { hold, default: values }, report)
  }
}

function checkGroup(entry: PlugEntry, group: Group, report: Report): void {
  requireOne(entry, 'group', SETS, group, '{ "type": "pump" }', report)
  const { resource }: Partial<Sensor> = entry.node
  if (resource === undefined || resource === '$') return
  report.error(
    'GROUP',
    at(entry.path, 'resource'),
    `${naming(entry)} has a group and the resource ${shown(resource)}`,
    'omit the resource: the sensor observes each member of its group',
  )
}

function checkWindow(entry: PlugEntry, window: Window, report: Report): void {
  requireOne(entry, 'window', WINDOWS, window, '{ "sliding": "10m" }', report)
  if (window.zone === undefined || window.calendar !== undefined) return
  const hint = 'omit it: only windows of the calendar depend on a zone'
  report.warning('FIELD', at(entry.path, 'window', 'zone'), `${naming(entry)}: the zone has no effect`, hint)
}

function requireOne<K extends string>(
  entry: PlugEntry,
  field: string,
  names: readonly K[],
  value: { readonly [Name in K]?: unknown },
  example: string,
  report: Report,
): void {
  const present = names.filter((name) => value[name] !== undefined)
  if (present.length === 1) return
  const found = present.length === 0 ? 'none' : present.join(' and ')
  const message = `${naming(entry)}: ${field} has ${found} of ${names.join(', ')}, expected one`
  report.error('GROUP', at(entry.path, field), message, `write one, such as ${example}`)
}

const DURATION = new RegExp(DURATION_PATTERN, 'u')

function checkHold(entry: PlugEntry, hold: Readonly<Record<string, unknown>>, report: Report): void {
  for (const [name, length] of Object.entries(hold)) {
    if (typeof length === 'string' && length.length <= 100 && DURATION.test(length) && durationMs(length) > 0) continue
    const message = `${naming(entry)}: hold of ${shown(name)} is ${shown(length)}, expected a duration`
    report.error('TYPE', at(entry.path, 'hold', name), message, 'write a duration such as 2h or PT2H')
  }
}

function checkDefaults(entry: PlugEntry, values: Readonly<Record<string, unknown>>, report: Report): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') continue
    const message = `${naming(entry)}: the default of ${shown(name)} is not a number, text, true or false`
    report.error('TYPE', at(entry.path, 'default', name), message, 'write a value such as 0')
  }
}

/** Warns about names that occur nowhere in the properties, where the plug reads only values that they name. */
function checkNames(
  entry: PlugEntry,
  fields: Readonly<Record<'hold' | 'default', object | undefined>>,
  report: Report,
): void {
  const { plug, node } = entry
  if (plug?.parameters === undefined) return
  const texts = JSON.stringify([node.properties, node.loopDef, plug.input, plug.parameters])
  for (const [field, values] of Object.entries(fields)) {
    for (const name of Object.keys(values ?? {})) {
      if (texts.includes(JSON.stringify(name).slice(1, -1))) continue
      const message = `${naming(entry)} does not read ${shown(name)}, so ${field} has no effect on it`
      report.warning('FIELD', at(entry.path, field, name), message, 'write the name of a value in its properties')
    }
  }
}
