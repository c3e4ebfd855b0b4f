/** Merges and applies overrides of single nodes, without changing templates and lists. */
import { Immer, type Draft } from 'immer'
import { at, FORBIDDEN_KEYS, ownValue, shown, stepsOf } from '#kernel'
import { emptyRecord } from './check/record.ts'
import type { Report } from './check/report.ts'
import type { NodeOverride, PlugNode, PlugOverride, RuleGraph, Sensor } from './rule.ts'

/** Freezing would also freeze parts that the result shares with the caller's template. */
const documents = new Immer({ autoFreeze: false })

type NodeFields = NodeOverride['properties']

const SENSOR_FIELDS = {
  cost: 'sequence',
  evictionTime: 'evictionTime',
  keepRawData: 'keepRawData',
  downtime: 'downtime',
  pollingPeriod: 'pollingPeriod',
  pollingFixedRate: 'pollingFixedRate',
  tickTrigger: 'tickTrigger',
  dataTrigger: 'dataTrigger',
} as const

/** By node, then by field, then by property name; actuators by label. */
export function mergeOverrides(earlier: readonly NodeOverride[], later: readonly NodeOverride[]): NodeOverride[] {
  const merged = new Map<string, NodeFields>()
  for (const { name, properties } of [...earlier, ...later]) merged.set(name, mergeFields(merged.get(name), properties))
  return [...merged].map(([name, properties]) => ({ name, properties }))
}

/** The last value of a repeated key wins. Omits names such as `__proto__`. */
export function requiredProperties(override: PlugOverride): Record<string, unknown> {
  const record = emptyRecord()
  for (const item of itemsOf(override)) {
    for (const [key, value] of Object.entries(item)) if (!FORBIDDEN_KEYS.has(key)) record[key] = value
  }
  return record
}

/**
 * In order. An actuator has its label as `name`, or is in `actions` of its node. Reports overrides without a target.
 */
export function applyOverrides(
  graph: RuleGraph,
  overrides: readonly NodeOverride[],
  path: string,
  report: Report,
): RuleGraph {
  if (overrides.length === 0) return graph
  return documents.produce(graph, (draft) => {
    const nodes = new Map<string, Target>()
    for (const node of draft.relations ?? []) nodes.set(node.label, { kind: 'relation' })
    for (const node of draft.actuators ?? []) nodes.set(node.label, { kind: 'actuator', node })
    for (const node of draft.sensors ?? []) nodes.set(node.label, { kind: 'sensor', node })
    overrides.forEach((override, i) => {
      const overridePath = at(path, i)
      const target = nodes.get(override.name)
      // an empty name was already reported by the shape check
      if (target === undefined && override.name === '') return
      if (target === undefined) {
        const hint = report.instead(override.name, nodes.keys(), 'nodes')
        report.error('OVERRIDE', at(overridePath, 'name'), `unknown node ${shown(override.name)}`, hint)
        return
      }
      const fields = at(overridePath, 'properties')
      applyFields(override, target, fields, report)
      override.properties.actions?.forEach((action, j) => {
        const found = findAction(override.name, action, draft, nodes, at(fields, 'actions', j), report)
        if (found) applyPlug(action, found, at(fields, 'actions', j), report)
      })
    })
  })
}

/** A pointer below `path`; undefined: the value comes from `graph` itself. */
export function overriddenAt(
  graph: RuleGraph,
  overrides: readonly NodeOverride[],
  path: string,
  pointer: string,
): string | undefined {
  const [list, index, ...field] = stepsOf(pointer)
  if (list !== 'sensors' && list !== 'actuators') return undefined
  const node = graph[list]?.[Number(index)]
  if (node === undefined) return undefined
  const actuators = new Set(graph.actuators?.map(({ label }) => label))
  for (const [i, { name, properties }] of [...overrides.entries()].toReversed()) {
    const fields = at(path, i, 'properties')
    const fires =
      (name === node.label && actuators.has(name)) ||
      graph.triggers?.some(
        ({ sourceLabel, destinationLabel }) => sourceLabel === name && destinationLabel === node.label,
      )
    for (const [j, action] of fires === true ? [...(properties.actions ?? []).entries()].toReversed() : []) {
      if (action.label === undefined ? (action.name ?? node.name) !== node.name : action.label !== node.label) continue
      const found = plugFieldAt(action, at(fields, 'actions', j), field)
      if (found !== undefined) return found
    }
    if (name !== node.label) continue
    const fieldName = Object.entries(SENSOR_FIELDS).find(([, slot]) => slot === field[0])?.[0] ?? field[0]
    if (fieldName !== undefined && fieldName !== 'sensor' && ownValue(properties, fieldName) !== undefined)
      return at(fields, fieldName)
    const found = properties.sensor && plugFieldAt(properties.sensor, at(fields, 'sensor'), field)
    if (found !== undefined) return found
  }
  return undefined
}

function plugFieldAt(
  override: PlugOverride,
  path: string,
  [field, key, ...rest]: readonly string[],
): string | undefined {
  if (field === 'version' || field === 'name') return override.version === undefined ? undefined : at(path, 'version')
  const { requiredProperties: written } = override
  if (field !== 'properties' || written === undefined) return undefined
  const base = at(path, 'requiredProperties')
  if (key === undefined) return base
  if (!isList(written)) return Object.hasOwn(written, key) ? at(base, key, ...rest) : undefined
  const last = written.findLastIndex((item) => Object.hasOwn(item, key))
  return last === -1 ? undefined : at(base, last, key, ...rest)
}

type Target =
  | { readonly kind: 'sensor'; readonly node: Draft<Sensor> }
  | { readonly kind: 'actuator'; readonly node: Draft<PlugNode> }
  | { readonly kind: 'relation' }

function applyFields({ name, properties }: NodeOverride, target: Target, path: string, report: Report): void {
  for (const [field, slot] of Object.entries(SENSOR_FIELDS) as [keyof typeof SENSOR_FIELDS, keyof Sensor][]) {
    const value = properties[field]
    if (value === undefined) continue
    if (target.kind === 'sensor') Object.assign(target.node, { [slot]: value })
    else
      report.warning(
        'OVERRIDE',
        at(path, field),
        `${field} has no effect on the ${target.kind} ${shown(name)}`,
        'only sensors have this field',
      )
  }
  const { resource, sensor } = properties
  if (target.kind === 'relation') {
    for (const field of ['resource', 'sensor'] as const) {
      if (properties[field] !== undefined)
        report.warning(
          'OVERRIDE',
          at(path, field),
          `${field} has no effect on the relation ${shown(name)}`,
          'override its sensors',
        )
    }
    return
  }
  if (resource !== undefined) target.node.resource = resource
  if (sensor !== undefined) applyPlug(sensor, target.node, at(path, 'sensor'), report)
}

function applyPlug(override: PlugOverride, node: Draft<PlugNode>, path: string, report: Report): void {
  for (const field of ['name', 'label'] as const) {
    const value = override[field]
    if (value === undefined || value === node[field]) continue
    const what = field === 'name' ? 'runs the plug' : 'has the label'
    report.error(
      'OVERRIDE',
      at(path, field),
      `the node ${shown(node.label)} ${what} ${shown(node[field])}, not ${shown(value)}`,
      `write ${shown(node[field])}, or omit ${field}`,
    )
  }
  if (override.version !== undefined) node.version = override.version
  if (override.requiredProperties === undefined) return
  const refused = refusedKeys(override)
  for (const key of refused)
    report.error(
      'KEY',
      at(path, 'requiredProperties', key),
      `the key ${shown(key)} is not allowed`,
      'choose another name',
    )
  node.properties = { ...node.properties, ...requiredProperties(override) }
}

function findAction(
  source: string,
  action: PlugOverride,
  graph: Draft<RuleGraph>,
  nodes: ReadonlyMap<string, Target>,
  path: string,
  report: Report,
): Draft<PlugNode> | undefined {
  const sourceNode = nodes.get(source)
  if (sourceNode?.kind === 'actuator') return sourceNode.node
  const fired = new Map<string, Draft<PlugNode>>()
  for (const { sourceLabel, destinationLabel } of graph.triggers ?? []) {
    const target = sourceLabel === source ? nodes.get(destinationLabel) : undefined
    if (target !== undefined && target.kind !== 'relation') fired.set(destinationLabel, target.node)
  }
  const { label, name } = action
  if (label !== undefined) {
    const found = fired.get(label)
    if (found === undefined)
      report.error(
        'OVERRIDE',
        at(path, 'label'),
        `the node ${shown(source)} does not fire ${shown(label)}`,
        report.instead(label, fired.keys(), `nodes that ${shown(source)} fires`),
      )
    return found
  }
  const candidates = [...fired.values()].filter((node) => name === undefined || node.name === name)
  if (candidates.length === 1) return candidates[0]
  const hint =
    candidates.length === 0 ? report.suggest('', fired.keys(), `nodes that ${shown(source)} fires`) : 'write its label'
  report.error('OVERRIDE', path, `ambiguous: ${shown(source)} fires ${candidates.length} nodes`, hint)
  return undefined
}

function refusedKeys(override: PlugOverride): string[] {
  return itemsOf(override).flatMap((item) => Object.keys(item).filter((key) => FORBIDDEN_KEYS.has(key)))
}

function itemsOf({ requiredProperties: written = {} }: PlugOverride): readonly Readonly<Record<string, unknown>>[] {
  return isList(written) ? written : [written]
}

function isList(
  written: NonNullable<PlugOverride['requiredProperties']>,
): written is readonly Record<string, unknown>[] {
  return Array.isArray(written)
}

function mergeFields(earlier: NodeFields | undefined, later: NodeFields): NodeFields {
  const merged: NodeFields = { ...earlier, ...later }
  if (later.sensor) merged.sensor = mergePlug(earlier?.sensor, later.sensor)
  if (later.actions) merged.actions = mergeActions(earlier?.actions ?? [], later.actions)
  return merged
}

function mergeActions(earlier: readonly PlugOverride[], later: readonly PlugOverride[]): PlugOverride[] {
  const merged = new Map<string, PlugOverride>()
  for (const action of [...earlier, ...later]) {
    const key = JSON.stringify(action.label === undefined ? ['name', action.name] : ['label', action.label])
    merged.set(key, mergePlug(merged.get(key), action))
  }
  return [...merged.values()]
}

function mergePlug(earlier: PlugOverride | undefined, later: PlugOverride): PlugOverride {
  const merged: PlugOverride = { ...earlier, ...later }
  if (merged.requiredProperties === undefined) return merged
  const record = { ...requiredProperties(earlier ?? {}), ...requiredProperties(later) }
  merged.requiredProperties = Object.entries(record).map(([key, value]) => ({ [key]: value }))
  return merged
}
