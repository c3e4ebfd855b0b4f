/** Rules with one thing changed: what a test of the rule ought to notice. */
import type { PlugRegistry } from '../../core/plug/plug.ts'
import type { Relation, Rule, RuleGraph, Sensor, TaskSettings, Template, Trigger } from '../../core/rule/rule.ts'
import { validateRule, validateTemplate } from '../../core/rule/validate.ts'
import { isPlainObject } from '../../kernel/json.ts'

export interface Mutant {
  /** what is changed, such as `sensors/hot/properties/threshold: 90 -> 91` */
  readonly name: string
  readonly rule: Rule | Template
}

type Change = readonly [name: string, rule: Rule | Template]

/** Every rule that differs in one place and that validation accepts. `plugs` say which states there are. */
export function mutantsOf(rule: Rule | Template, plugs: PlugRegistry): readonly Mutant[] {
  const changes = [
    ...(rule.sensors ?? []).flatMap((sensor) => sensorChanges(rule, sensor)),
    ...(rule.relations ?? []).flatMap((relation) => relationChanges(rule, relation, plugs)),
    ...(rule.triggers ?? []).flatMap((trigger, i) => triggerChanges(rule, trigger, i, plugs)),
    ...settingChanges(rule),
  ]
  const own = JSON.stringify(rule)
  const known = new Set([own])
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

function sensorChanges(rule: Rule | Template, sensor: Sensor): readonly Change[] {
  const at = `sensors/${sensor.label}`
  const put = (name: string, changed: Partial<Sensor>): Change => [
    `${at}/${name}`,
    { ...rule, sensors: (rule.sensors ?? []).map((one) => (one === sensor ? without({ ...one, ...changed }) : one)) },
  ]
  const { evictionTime, properties = {} } = sensor
  return [
    ...valueChanges(properties).map(([path, value, from, to]) =>
      put(`properties${path}: ${from} -> ${to}`, { properties: value as Record<string, unknown> }),
    ),
    put('dataTrigger: false', { dataTrigger: false }),
    ...(evictionTime === undefined
      ? []
      : [
          put('evictionTime: taken away', { evictionTime: undefined as never }),
          put(`evictionTime: ${evictionTime} -> ${2 * evictionTime}`, { evictionTime: 2 * evictionTime }),
        ]),
  ]
}

type ValueChange = readonly [path: string, value: unknown, from: string, to: string]

const OPERATORS: Readonly<Record<string, string>> = {
  '>': '>=',
  '>=': '>',
  '<': '<=',
  '<=': '<',
  '==': '!=',
  '!=': '==',
  '===': '!==',
  '!==': '===',
  and: 'or',
  or: 'and',
  '&&': '||',
  '||': '&&',
}

/** Every number a step up and down, every comparison the other, every name of a value misspelt, every zone another; one at a time. */
function valueChanges(value: unknown, path = ''): readonly ValueChange[] {
  const shown = JSON.stringify(value)
  const to = (changed: unknown): ValueChange => [path, changed, shown, JSON.stringify(changed)]
  if (typeof value === 'number') return numberChanges(value).map(to)
  if (typeof value === 'boolean') return [to(!value)]
  if (typeof value === 'string') return textChanges(value).map(to)
  if (Array.isArray(value))
    return value.flatMap((item, i) =>
      valueChanges(item, `${path}/${i}`).map(([at, changed, from, into]): ValueChange => [
        at,
        value.map((other: unknown, j) => (j === i ? changed : other)),
        from,
        into,
      ]),
    )
  if (!isPlainObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const operator = OPERATORS[key]
    const renamed = (name: string) =>
      Object.fromEntries(Object.entries(value).map(([k, v]) => [k === key ? name : k, v]))
    return [
      ...(operator !== undefined && Array.isArray(inner) ? [[path, renamed(operator), key, operator] as const] : []),
      ...valueChanges(inner, `${path}/${key}`).map(([at, changed, from, into]): ValueChange => [
        at,
        { ...value, [key]: changed },
        from,
        into,
      ]),
    ]
  })
}

/** A step up and down, and a tenth. */
function numberChanges(value: number): readonly number[] {
  const step = Number.isInteger(value) ? 1 : 0.1
  const tenths = [value * 1.1, value * 0.9].map((changed) => Number(changed.toPrecision(6)))
  return [...new Set([value + step, value - step, ...tenths])].filter((changed) => changed !== value)
}

function textChanges(text: string): readonly string[] {
  const duration = /^(\d+)(ms|s|m|h|d)$/.exec(text)
  if (duration) return [`${Number(duration[1]) + 1}${duration[2]}`, `${Number(duration[1]) - 1}${duration[2]}`]
  if (/^[A-Z]\w+\/[A-Z]\w+/.test(text)) return ['Pacific/Auckland']
  const comparison = /([<>]=?|[!=]==?|&&|\|\|)/.exec(text)
  const changed = comparison ? [text.replace(comparison[0], OPERATORS[comparison[0]] ?? comparison[0])] : []
  const number = /(?<![\w.])\d+(?:\.\d+)?(?![\w.])/.exec(text)
  const moved = number ? [text.replace(number[0], String(Number(number[0]) + 1))] : []
  return /^\w+$/.test(text) ? [`${text}_x`] : [...changed, ...moved]
}

function relationChanges(rule: Rule | Template, relation: Relation, plugs: PlugRegistry): readonly Change[] {
  const put = (name: string, changed: Partial<Relation>): Change => [
    `relations/${relation.label}/${name}`,
    { ...rule, relations: (rule.relations ?? []).map((one) => (one === relation ? { ...one, ...changed } : one)) },
  ]
  const { type, parentLabels, combinations } = relation
  const types = (['AND', 'OR', 'NAND'] as const).filter((other) => other !== type && type !== 'GENERAL')
  const states = combinations.flatMap((row, i) =>
    row.flatMap((state, j) => {
      const others = statesOf(rule, parentLabels[j] ?? '', plugs).filter((other) => other !== state)
      return others.map((other) =>
        put(`combinations/${i}/${j}: ${state} -> ${other}`, {
          combinations: combinations.map((one, at) => (at === i ? one.map((s, k) => (k === j ? other : s)) : one)),
        }),
      )
    }),
  )
  const shorter =
    combinations.length < 2
      ? []
      : combinations.map((row, i) =>
          put(`combinations/${i}: taken away (${row.join(', ')})`, {
            combinations: combinations.filter((one) => one !== row),
          }),
        )
  const fewer =
    parentLabels.length < 2
      ? []
      : parentLabels.map((parent, at) =>
          put(`parentLabels: without ${parent}`, {
            parentLabels: parentLabels.filter((_, i) => i !== at),
            combinations: combinations.map((row) => row.filter((_, i) => i !== at)),
          }),
        )
  return [...types.map((other) => put(`type: ${type} -> ${other}`, { type: other })), ...states, ...shorter, ...fewer]
}

function triggerChanges(
  rule: Rule | Template,
  trigger: Trigger,
  place: number,
  plugs: PlugRegistry,
): readonly Change[] {
  const at = `triggers/${trigger.sourceLabel} -> ${trigger.destinationLabel}`
  const triggers = rule.triggers ?? []
  const put = (name: string, changed: Partial<Trigger>): Change => [
    `${at}/${name}`,
    { ...rule, triggers: triggers.map((one, i) => (i === place ? without({ ...one, ...changed }) : one)) },
  ]
  const gone: Change = [`${at}: taken away`, { ...rule, triggers: triggers.filter((_, i) => i !== place) }]
  const { invocationPolicy = 0, statesTrigger, stateChangeTrigger } = trigger
  const states = statesOf(rule, trigger.sourceLabel, plugs)
  const coolDowns =
    invocationPolicy > 0
      ? [
          put('invocationPolicy: taken away', { invocationPolicy: undefined as never }),
          ...[invocationPolicy - 1, invocationPolicy + 1, invocationPolicy / 2, invocationPolicy * 2].map((other) =>
            put(`invocationPolicy: ${invocationPolicy} -> ${other}`, { invocationPolicy: other }),
          ),
        ]
      : [put('invocationPolicy: none -> 600', { invocationPolicy: 600 })]
  const byState =
    statesTrigger === undefined
      ? []
      : [
          ...states
            .filter((state) => !statesTrigger.includes(state))
            .flatMap((state) => [
              put(`statesTrigger: ${statesTrigger.join(', ')} -> ${state}`, { statesTrigger: [state] }),
              put(`statesTrigger: and ${state}`, { statesTrigger: [...statesTrigger, state] }),
            ]),
          put('statesTrigger: a change from any other state', {
            statesTrigger: undefined as never,
            stateChangeTrigger: {
              stateFrom: states.find((state) => !statesTrigger.includes(state)) ?? '*',
              stateTo: statesTrigger[0] ?? '*',
            },
          }),
        ]
  const byChange =
    stateChangeTrigger === undefined
      ? []
      : [
          put('stateChangeTrigger: the state alone', {
            stateChangeTrigger: undefined as never,
            statesTrigger: [stateChangeTrigger.stateTo],
          }),
          put('stateChangeTrigger: the other way round', {
            stateChangeTrigger: { stateFrom: stateChangeTrigger.stateTo, stateTo: stateChangeTrigger.stateFrom },
          }),
          put('stateChangeTrigger: from any state', { stateChangeTrigger: { ...stateChangeTrigger, stateFrom: '*' } }),
        ]
  const elsewhere = (rule.actuators ?? [])
    .filter(({ label }) => label !== trigger.destinationLabel)
    .map(({ label }) => put(`destinationLabel: ${trigger.destinationLabel} -> ${label}`, { destinationLabel: label }))
  return [gone, ...elsewhere, ...coolDowns, ...byState, ...byChange]
}

function settingChanges(rule: Rule | Template): readonly Change[] {
  const own = ('name' in rule ? rule.taskDefaults : rule.task) ?? {}
  const put = (name: string, changed: TaskSettings): Change => [
    `task/${name}`,
    'name' in rule ? { ...rule, taskDefaults: { ...own, ...changed } } : { ...rule, task: { ...own, ...changed } },
  ]
  const { resetObservations = true, gatesNeedFullObservation = false, timeZone, cron, frequency } = own
  const zoned = timeZone !== undefined || cron !== undefined
  return [
    put(`resetObservations: ${resetObservations} -> ${!resetObservations}`, { resetObservations: !resetObservations }),
    ...((rule.relations ?? []).length > 0
      ? [
          put(`gatesNeedFullObservation: ${gatesNeedFullObservation} -> ${!gatesNeedFullObservation}`, {
            gatesNeedFullObservation: !gatesNeedFullObservation,
          }),
        ]
      : []),
    ...(zoned ? [put(`timeZone: ${timeZone ?? 'UTC'} -> Pacific/Auckland`, { timeZone: 'Pacific/Auckland' })] : []),
    ...(frequency === undefined
      ? []
      : [put(`frequency: ${frequency} -> ${2 * frequency}`, { frequency: 2 * frequency })]),
  ]
}

function statesOf(rule: RuleGraph, label: string, plugs: PlugRegistry): readonly string[] {
  if (rule.relations?.some((relation) => relation.label === label) === true) return ['TRUE', 'FALSE']
  const sensor = rule.sensors?.find((one) => one.label === label)
  return sensor === undefined ? [] : (plugs.find('sensor', sensor.name, sensor.version)?.states ?? [])
}

/** Without the keys whose value is undefined, which JSON does not have. */
function without<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T
}
