/** Generates rules with one typical mistake each, which a test of the rule should detect. */
import {
  type Actuator,
  type Plug,
  type PlugRegistry,
  type Rule,
  type Sensor,
  type TaskSettings,
  type Template,
  validateRule,
  validateTemplate,
} from '#core'
import { type PlugNode, settingsOf, type VariableDeclaration } from '#core/spi'
import { present } from '#kernel'
import { type Change, relationChanges, triggerChanges } from './gate-changes.ts'
import { cronChanges, millisecondChanges, propertyChanges, type Confusions } from './value-changes.ts'

export interface Mutant {
  /** describes the change, for example `sensors/hot/properties/threshold: 90 -> 91` */
  readonly name: string
  readonly rule: Rule | Template
}

/** Returns every valid rule that differs in one place. `plugs`: provide the possible states. */
export function mutantsOf(rule: Rule | Template, plugs: PlugRegistry): readonly Mutant[] {
  const changes = [
    ...(rule.sensors ?? []).flatMap((sensor) => sensorChanges(rule, sensor, plugs)),
    ...(rule.relations ?? []).flatMap((relation) => relationChanges(rule, relation, plugs)),
    ...(rule.triggers ?? []).flatMap((trigger, i) => triggerChanges(rule, trigger, i, plugs)),
    ...(rule.actuators ?? []).flatMap((actuator) => actuatorChanges(rule, actuator, plugs)),
    ...nodesRemoved(rule),
    ...('name' in rule ? declarationChanges(rule) : []),
    ...settingChanges(rule),
  ]
  const original = JSON.stringify(rule)
  const known = new Set([original])
  return changes.flatMap(([name, changed]) => {
    const text = JSON.stringify(changed)
    if (known.has(text)) return []
    known.add(text)
    const isValid =
      'name' in changed
        ? validateTemplate(changed, plugs).template !== undefined
        : validateRule(changed, plugs).rule !== undefined
    return isValid ? [{ name, rule: changed }] : []
  })
}

const EVICTION_MS = 60_000

function sensorChanges(rule: Rule | Template, sensor: Sensor, plugs: PlugRegistry): readonly Change[] {
  const put = (name: string, changed: Partial<Sensor>): Change => [
    `sensors/${sensor.label}/${name}`,
    { ...rule, sensors: (rule.sensors ?? []).map((one) => (one === sensor ? present({ ...one, ...changed }) : one)) },
  ]
  const { evictionTime, pollingPeriod, schedule } = sensor
  const lengths = Object.entries({ evictionTime, pollingPeriod }).flatMap(([key, ms]) =>
    ms === undefined ? [] : millisecondChanges(ms).map((other) => put(`${key}: ${ms} -> ${other}`, { [key]: other })),
  )
  const eviction =
    evictionTime === undefined
      ? put(`evictionTime: none -> ${EVICTION_MS}`, { evictionTime: EVICTION_MS })
      : put('evictionTime: removed', { evictionTime: undefined as never })
  return [
    ...nodeChanges(rule, sensor, plugs.find('sensor', sensor.name, sensor.version)).map(([name, changed]) =>
      put(name, changed),
    ),
    put('dataTrigger: false', { dataTrigger: false }),
    ...(hasClock(rule) ? [put('tickTrigger: false', { tickTrigger: false })] : []),
    eviction,
    ...lengths,
    ...cronChanges(schedule ?? '').map((other) => put(`schedule: ${schedule ?? ''} -> ${other}`, { schedule: other })),
  ]
}

function actuatorChanges(rule: Rule | Template, actuator: Actuator, plugs: PlugRegistry): readonly Change[] {
  const plug = plugs.find('actuator', actuator.name, actuator.version)
  return nodeChanges(rule, actuator, plug).map(([name, changed]) => [
    `actuators/${actuator.label}/${name}`,
    { ...rule, actuators: (rule.actuators ?? []).map((one) => (one === actuator ? { ...one, ...changed } : one)) },
  ])
}

function nodeChanges(
  rule: Rule | Template,
  { properties = {}, resource }: PlugNode,
  plug: Plug | undefined,
): readonly (readonly [name: string, changed: Partial<PlugNode>])[] {
  const changed = propertyChanges(properties, confusionsOf(rule, plug)).map(
    ([path, value, from, to]) =>
      [`properties${path}: ${from} -> ${to}`, { properties: value as Record<string, unknown> }] as const,
  )
  return resource === undefined
    ? changed
    : [...changed, [`resource: ${resource} -> another`, { resource: 'another' }] as const]
}

function confusionsOf(rule: Rule | Template, plug?: Plug): Confusions {
  const named = [
    ...JSON.stringify((rule.sensors ?? []).map(({ properties }) => properties)).matchAll(
      /"(?:parameter|metric|var)":"(\w+)"/g,
    ),
  ]
  const declared = 'name' in rule ? (rule.variables ?? []) : []
  return {
    metrics: [...new Set(named.map(([, name = '']) => name))],
    defaults: Object.fromEntries(
      declared.flatMap(({ name, defaultValue }) => (defaultValue === undefined ? [] : [[name, defaultValue]])),
    ),
    enums: Object.fromEntries(
      Object.entries(plug?.input ?? {}).flatMap(([name, { format }]) =>
        format?.type === 'enum' && 'values' in format ? [[name, format.values ?? []]] : [],
      ),
    ),
  }
}

/** Removes nodes with several dependents. For a node with one dependent, removing the dependent has the same effect. */
function nodesRemoved(rule: Rule | Template): readonly Change[] {
  const { sensors = [], relations = [], actuators = [], triggers = [] } = rule
  const uses = (label: string): number =>
    triggers.filter(({ sourceLabel, destinationLabel }) => [sourceLabel, destinationLabel].includes(label)).length +
    relations.filter(({ parentLabels }) => parentLabels.includes(label)).length
  const gone = (of: 'sensors' | 'relations' | 'actuators', label: string): Change => [
    `${of}/${label}: removed`,
    present({
      ...rule,
      [of]: (rule[of] as readonly { label: string }[]).filter((one) => one.label !== label),
      triggers: triggers.filter((one) => one.sourceLabel !== label && one.destinationLabel !== label),
    }),
  ]
  return [
    ...sensors.map(({ label }) => ['sensors', label] as const),
    ...relations.map(({ label }) => ['relations', label] as const),
    ...actuators.map(({ label }) => ['actuators', label] as const),
  ]
    .filter(([, label]) => uses(label) > 1)
    .map(([of, label]) => gone(of, label))
}

function declarationChanges(template: Template): readonly Change[] {
  const { variables = [] } = template
  const put = (variable: VariableDeclaration, name: string, changed: Partial<VariableDeclaration>): Change => [
    `variables/${variable.name}/${name}`,
    { ...template, variables: variables.map((one) => (one === variable ? present({ ...one, ...changed }) : one)) },
  ]
  return variables.flatMap((variable) => {
    const { defaultValue, overrideByStream = false } = variable
    if (defaultValue === undefined) return []
    return [
      ...propertyChanges({ defaultValue }, confusionsOf(template)).map(([, value, from, to]) =>
        put(variable, `defaultValue: ${from} -> ${to}`, value as Partial<VariableDeclaration>),
      ),
      put(variable, `overrideByStream: ${overrideByStream} -> ${!overrideByStream}`, {
        overrideByStream: !overrideByStream,
      }),
    ]
  })
}

/** Settings that have an effect only when set explicitly. */
const CHOSEN = [
  ...(['resetScope', 'overlap', 'whenBusy', 'late', 'time', 'duplicates'] as const),
  ...(['misfire', 'maxLateness', 'streamValidity', 'dst'] as const),
] as const

function hasClock(rule: Rule | Template): boolean {
  const { type, cron, rrule, frequency, pollingInterval } = settingsOf(rule)
  return type === 'scheduled' || type === 'periodic' || (cron ?? rrule ?? frequency ?? pollingInterval) !== undefined
}

function settingChanges(rule: Rule | Template): readonly Change[] {
  const taskSettings = settingsOf(rule)
  const put = (name: string, changed: Partial<TaskSettings>): Change => {
    const settings = present({ ...taskSettings, ...changed })
    return [`task/${name}`, 'name' in rule ? { ...rule, taskDefaults: settings } : { ...rule, task: settings }]
  }
  const { resetObservations = true, gatesNeedFullObservation = false, timeZone, cron, rrule, frequency } = taskSettings
  const isZoned = timeZone !== undefined || cron !== undefined || rrule !== undefined
  const needsFull = `gatesNeedFullObservation: ${gatesNeedFullObservation} -> ${!gatesNeedFullObservation}`
  return [
    put(`resetObservations: ${resetObservations} -> ${!resetObservations}`, { resetObservations: !resetObservations }),
    ...((rule.relations ?? []).length > 0
      ? [put(needsFull, { gatesNeedFullObservation: !gatesNeedFullObservation })]
      : []),
    ...(isZoned
      ? [
          put(`timeZone: ${timeZone ?? 'UTC'} -> Pacific/Auckland`, { timeZone: 'Pacific/Auckland' }),
          put('dst: times that do not exist are skipped', { dst: { ...taskSettings.dst, gap: 'skip' } }),
          put('dst: times that occur twice count twice', { dst: { ...taskSettings.dst, overlap: 'both' } }),
        ]
      : []),
    ...(timeZone === undefined ? [] : [put('timeZone: removed', { timeZone: undefined as never })]),
    ...cronChanges(cron ?? '').map((other) => put(`cron: ${cron ?? ''} -> ${other}`, { cron: other })),
    ...(frequency === undefined
      ? []
      : millisecondChanges(frequency).map((other) => put(`frequency: ${frequency} -> ${other}`, { frequency: other }))),
    ...propertyChanges(taskSettings.variables ?? {}, confusionsOf(rule)).map(([path, value, from, to]) =>
      put(`variables${path}: ${from} -> ${to}`, { variables: value as Record<string, unknown> }),
    ),
    ...CHOSEN.filter((key) => taskSettings[key] !== undefined).map((key) =>
      put(`${key}: removed`, { [key]: undefined }),
    ),
  ]
}
