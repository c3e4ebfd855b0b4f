/** Generates typical mistakes in gates and triggers. */
import type { PlugRegistry, Relation, Rule, Template, Trigger } from '#core'
import { present } from '#kernel'
import { statesOf } from '../rule-paths.ts'
import { coolDownChanges } from './value-changes.ts'

/** A named change and the changed rule, which may be invalid. */
export type Change = readonly [name: string, rule: Rule | Template]

/** Changes the type, changes a row, adds or removes a row, or removes a parent. */
export function relationChanges(rule: Rule | Template, relation: Relation, plugs: PlugRegistry): readonly Change[] {
  const put = (name: string, changed: Partial<Relation>): Change => [
    `relations/${relation.label}/${name}`,
    { ...rule, relations: (rule.relations ?? []).map((one) => (one === relation ? { ...one, ...changed } : one)) },
  ]
  const { type, parentLabels, combinations } = relation
  const types = (['AND', 'OR', 'NAND'] as const).filter((other) => other !== type && type !== 'GENERAL')
  const changedRows = combinations.flatMap((row, i) =>
    row.flatMap((state, j) => {
      const others = statesOf(rule, parentLabels[j] ?? '', plugs).filter((other) => other !== state)
      return others.map((other) => ({ i, j, state, other, changed: row.map((s, k) => (k === j ? other : s)) }))
    }),
  )
  const states = changedRows.map(({ i, j, state, other, changed }) =>
    put(`combinations/${i}/${j}: ${state} -> ${other}`, {
      combinations: combinations.map((one, at) => (at === i ? changed : one)),
    }),
  )
  const isKnown = (row: readonly string[]) => combinations.some((one) => one.join('\n') === row.join('\n'))
  const longer = changedRows.flatMap(({ changed }) =>
    (type === 'AND' || type === 'GENERAL') && !isKnown(changed)
      ? [put(`combinations: and ${changed.join(', ')}`, { type: 'GENERAL', combinations: [...combinations, changed] })]
      : [],
  )
  const shorter =
    combinations.length < 2
      ? []
      : combinations.map((row, i) =>
          put(`combinations/${i}: removed (${row.join(', ')})`, {
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
  return [
    ...types.map((other) => put(`type: ${type} -> ${other}`, { type: other })),
    ...states,
    ...longer,
    ...shorter,
    ...fewer,
  ]
}

/** Removes or redirects a trigger, or changes its cool-down, its states, or whether it fires on an edge or a level. */
export function triggerChanges(
  rule: Rule | Template,
  trigger: Trigger,
  index: number,
  plugs: PlugRegistry,
): readonly Change[] {
  const at = `triggers/${trigger.sourceLabel} -> ${trigger.destinationLabel}`
  const triggers = rule.triggers ?? []
  const put = (name: string, changed: Partial<Trigger>): Change => [
    `${at}/${name}`,
    { ...rule, triggers: triggers.map((one, i) => (i === index ? present({ ...one, ...changed }) : one)) },
  ]
  const gone: Change = [`${at}: removed`, { ...rule, triggers: triggers.filter((_, i) => i !== index) }]
  const { invocationPolicy = 0 } = trigger
  const coolDowns =
    invocationPolicy > 0
      ? [
          put('invocationPolicy: removed', { invocationPolicy: undefined as never }),
          ...coolDownChanges(invocationPolicy).map((other) =>
            put(`invocationPolicy: ${invocationPolicy} -> ${other}`, { invocationPolicy: other }),
          ),
        ]
      : [put('invocationPolicy: none -> 600', { invocationPolicy: 600 })]
  const elsewhere = (rule.actuators ?? [])
    .filter(({ label }) => label !== trigger.destinationLabel)
    .map(({ label }) => put(`destinationLabel: ${trigger.destinationLabel} -> ${label}`, { destinationLabel: label }))
  const changed = stateChanges(rule, trigger, plugs).map(([name, change]) => put(name, change))
  return [gone, ...elsewhere, ...coolDowns, ...changed]
}

type TriggerChange = readonly [name: string, changed: Partial<Trigger>]

function stateChanges(rule: Rule | Template, trigger: Trigger, plugs: PlugRegistry): readonly TriggerChange[] {
  const { statesTrigger, stateChangeTrigger, sourceLabel } = trigger
  const states = statesOf(rule, sourceLabel, plugs)
  if (statesTrigger !== undefined) {
    const others = states.filter((state) => !statesTrigger.includes(state))
    return [
      ...others.flatMap((state): readonly TriggerChange[] => [
        [`statesTrigger: ${statesTrigger.join(', ')} -> ${state}`, { statesTrigger: [state] }],
        [`statesTrigger: and ${state}`, { statesTrigger: [...statesTrigger, state] }],
      ]),
      ...(statesTrigger.length < 2
        ? []
        : statesTrigger.map((state): TriggerChange => [
            `statesTrigger: without ${state}`,
            { statesTrigger: statesTrigger.filter((one) => one !== state) },
          ])),
      [
        'statesTrigger: a change from any other state',
        {
          statesTrigger: undefined as never,
          stateChangeTrigger: { stateFrom: others[0] ?? '*', stateTo: statesTrigger[0] ?? '*' },
        },
      ],
      ...(others.length > 1
        ? [['statesTrigger: removed', { statesTrigger: undefined as never }] satisfies TriggerChange]
        : []),
      ...parentInstead(rule, trigger),
    ]
  }
  if (trigger.begins !== undefined || trigger.ends !== undefined) return edgeChanges(trigger, states)
  if (stateChangeTrigger === undefined) return []
  const { stateFrom, stateTo } = stateChangeTrigger
  const third = states.filter((state) => state !== stateFrom && state !== stateTo)
  return [
    [
      'stateChangeTrigger: only the state',
      { stateChangeTrigger: undefined as never, statesTrigger: [stateTo] },
    ] satisfies TriggerChange,
    ['stateChangeTrigger: reversed', { stateChangeTrigger: { stateFrom: stateTo, stateTo: stateFrom } }],
    ['stateChangeTrigger: from any state', { stateChangeTrigger: { stateFrom: '*', stateTo } }],
    ...third.flatMap((state): readonly TriggerChange[] => [
      [`stateChangeTrigger: from ${state}`, { stateChangeTrigger: { stateFrom: state, stateTo } }],
      [`stateChangeTrigger: to ${state}`, { stateChangeTrigger: { stateFrom, stateTo: state } }],
    ]),
  ]
}

/** Changes an edge to the opposite edge, to both, to the level, or to other states. */
function edgeChanges({ begins, ends }: Trigger, states: readonly string[]): readonly TriggerChange[] {
  const [field, other] = begins === undefined ? (['ends', 'begins'] as const) : (['begins', 'ends'] as const)
  const set = begins ?? ends ?? []
  const gone = { begins: undefined as never, ends: undefined as never }
  const others = states.filter((state) => !set.includes(state))
  return [
    [`${field}: only the states`, { ...gone, statesTrigger: set }],
    [`${field}: ${other} instead`, { ...gone, [other]: set }],
    [`${field}: and ${other}`, { begins: set, ends: set }],
    ...others.map((state): TriggerChange => [`${field}: ${set.join(', ')} -> ${state}`, { [field]: [state] }]),
  ]
}

/** Moves a trigger from a gate to one of the gate's parents. */
function parentInstead(rule: Rule | Template, { sourceLabel, statesTrigger }: Trigger): readonly TriggerChange[] {
  const gate = rule.relations?.find(({ label }) => label === sourceLabel)
  const [row] = gate?.combinations ?? []
  if (gate === undefined || row === undefined || gate.parentLabels.length < 2) return []
  if (statesTrigger?.length !== 1 || statesTrigger[0] !== 'TRUE') return []
  return gate.parentLabels.flatMap((parent, i): readonly TriggerChange[] => {
    const state = row[i]
    if (state === undefined) return []
    return [[`sourceLabel: ${sourceLabel} -> ${parent}, ${state}`, { sourceLabel: parent, statesTrigger: [state] }]]
  })
}
