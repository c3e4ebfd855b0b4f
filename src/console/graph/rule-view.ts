/** A rule as its graph shows it, read from JSON of any form: missing or wrong parts are left out. */

export type NodeKind = 'sensor' | 'gate' | 'actuator'

export interface ViewNode {
  readonly label: string
  readonly kind: NodeKind
  /** name of the plug, or type of the gate */
  readonly what: string
  readonly properties: Readonly<Record<string, unknown>>
  /** of a gate: its parents, and its rows of states */
  readonly parents: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface ViewTrigger {
  readonly source: string
  readonly destination: string
  readonly states: readonly string[]
  readonly change: { readonly from: string; readonly to: string } | undefined
  readonly begins: readonly string[]
  readonly ends: readonly string[]
  /** cool-down in ms; 0: none */
  readonly coolDown: number
}

export interface RuleView {
  readonly nodes: readonly ViewNode[]
  readonly triggers: readonly ViewTrigger[]
}

export const NO_RULE: RuleView = { nodes: [], triggers: [] }

type Json = Readonly<Record<string, unknown>>

export function readRule(document: unknown): RuleView {
  const rule = objectOf(document)
  const plugNode =
    (kind: NodeKind) =>
    (node: Json): ViewNode => ({
      label: textOf(node['label']),
      kind,
      what: textOf(node['name']),
      properties: objectOf(node['properties']),
      parents: [],
      rows: [],
    })
  const nodes = [
    ...listOf(rule['sensors']).map(plugNode('sensor')),
    ...listOf(rule['relations']).map((relation): ViewNode => ({
      label: textOf(relation['label']),
      kind: 'gate',
      what: textOf(relation['type']),
      properties: {},
      parents: textsOf(relation['parentLabels']),
      rows: Array.isArray(relation['combinations']) ? relation['combinations'].map(textsOf) : [],
    })),
    ...listOf(rule['actuators']).map(plugNode('actuator')),
  ]
  const seen = new Set<string>()
  return {
    nodes: nodes.filter(({ label }) => label !== '' && !seen.has(label) && seen.add(label)),
    triggers: listOf(rule['triggers']).map(readTrigger),
  }
}

function readTrigger(trigger: Json): ViewTrigger {
  const change = trigger['stateChangeTrigger'] === undefined ? undefined : objectOf(trigger['stateChangeTrigger'])
  const coolDown = trigger['invocationPolicy']
  return {
    source: textOf(trigger['sourceLabel']),
    destination: textOf(trigger['destinationLabel']),
    states: textsOf(trigger['statesTrigger']),
    change: change && { from: textOf(change['stateFrom']), to: textOf(change['stateTo']) },
    begins: textsOf(trigger['begins']),
    ends: textsOf(trigger['ends']),
    coolDown: typeof coolDown === 'number' ? coolDown * 1_000 : 0,
  }
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(textOf) : []
}
