/**
 * Recognizes rules that differ only in properties, names and resources, and compiles only the differences.
 *
 * STRUCT-1 a recognized rule has the same outcome as without a cache: the same graph, the same document byte for byte,
 *   the same issues; in doubt it is not recognized.
 */
import { AppError, at, hasKeysOf, haveSameText, isPlainObject, LruCache } from '#kernel'
import { compileCall, type CompiledRule } from '../graph/compile.ts'
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import { RuleProperties, type NodeProperties, type Properties } from '../graph/rule-properties.ts'
import { checkNode } from '../rule/check/check-properties.ts'
import { readPart } from '../rule/check/read-document.ts'
import { Report, type CheckOptions } from '../rule/check/report.ts'
import type { Actuator, Rule, RuleGraph, Sensor, TaskSettings } from '../rule/rule.ts'

interface Structure<S> {
  readonly document: JsonRule
  readonly known: S
}

type JsonRule = Readonly<Record<string, unknown>>

export interface Likeness<S> {
  readonly known: S
  /** properties of nodes that differ, by position; undefined: equal */
  readonly changed: readonly (Properties | undefined)[]
  readonly task: Pick<TaskSettings, 'name' | 'resource'>
}

const KEYS: ReadonlySet<string> = new Set(['sensors', 'actuators', 'relations', 'triggers', 'notes', 'task'])
const MAX_KEYS = 1000
const MAX_ALIKE = 8
const MAX_NODES = 50
/** Limits the characters of a rule, so that parts checked separately stay below the limits of a document. */
const MAX_TEXT = 500_000
const MAX_PLACEHOLDERS = 2_500
const MAX_NAME = 1000

export class RuleStructures<S> {
  readonly #byNodes = new LruCache<string, Structure<S>[]>(MAX_KEYS)
  #last: Structure<S> | undefined;

  *like(input: unknown): Generator<Likeness<S>> {
    const last = this.#last
    const first = last && likeness(input, last)
    if (first !== undefined) yield first
    const key = keyOf(input)
    for (const structure of (key !== undefined && this.#byNodes.get(key)) || []) {
      const found = structure === last ? undefined : likeness(input, structure)
      if (found === undefined) continue
      this.#last = structure
      yield found
    }
  }

  add(input: unknown, rule: RuleGraph, { graph }: CompiledRule, options: CheckOptions, known: S): void {
    const key = keyOf(input)
    const json = key === undefined ? undefined : jsonOf(input)
    if (key === undefined || json === undefined) return
    const nodes = [...graph.sensors, ...graph.actuators]
    const isSilent = [...(rule.sensors ?? []), ...(rule.actuators ?? [])].every((node, i) => {
      const written = nodesOf(json)[i]?.['properties']
      if (JSON.stringify(written) !== JSON.stringify(node.properties)) return false
      return nodes[i] !== undefined && isRight(nodes[i], node, rule, options)
    })
    if (!isSilent) return
    const structure = { document: json, known }
    const alike = this.#byNodes.get(key) ?? []
    this.#byNodes.set(key, [structure, ...alike.slice(0, MAX_ALIKE - 1)])
    this.#last = structure
  }
}

/** Returns the properties of a rule for the graph of a similar rule; undefined if it cannot share that graph. */
export function propertiesOver(
  { graph, properties: first }: CompiledRule,
  rule: RuleGraph,
  ofInput: Likeness<unknown>['changed'],
  options: CheckOptions,
): RuleProperties | undefined {
  if (ofInput.every((one) => one === undefined)) return first
  const kept = [...first.properties]
  let made: (NodeProperties | undefined)[] | undefined
  for (const [i, properties] of ofInput.entries()) {
    if (properties === undefined) continue
    const { length } = graph.sensors
    const known = i < length ? graph.sensors[i] : graph.actuators[i - length]
    const node = i < length ? rule.sensors?.[i] : rule.actuators?.[i - length]
    const read = readPart(properties)
    if (known === undefined || node === undefined || read === undefined) return undefined
    const changed = { ...node, properties: { ...read } }
    if (!isRight(known, changed, rule, options)) return undefined
    const prepared = propertiesOfNode(known, changed)
    if (prepared === undefined) return undefined
    kept[i] = changed.properties
    if (prepared.prepared !== undefined) (made ??= kept.map(() => undefined))[i] = prepared
  }
  return new RuleProperties(kept, made, first)
}

function isRight(known: SensorNode | ActuatorNode, node: Sensor | Actuator, rule: RuleGraph, options: CheckOptions) {
  const { kind, label, slot, call } = known
  const report = new Report(options)
  checkNode({ kind, label, path: at('', `${kind}s`, slot), node, plug: call.plug }, call.plug, false, report)
  return report.issues.length === 0 && rule[`${kind}s`]?.[slot]?.label === label
}

function propertiesOfNode(known: SensorNode | ActuatorNode, node: Sensor | Actuator): NodeProperties | undefined {
  const { plug, index, isConstant, uses, ahead } = known.call
  try {
    const { call, properties, parameters } = compileCall(node, plug, index, [])
    const isSame =
      call.isConstant === isConstant &&
      isSameList(call.ahead, ahead) &&
      isSameList(call.uses, uses) &&
      (known.kind === 'actuator' || isSameList(parameters, known.parameters))
    return isSame ? properties : undefined
  } catch (error) {
    if (error instanceof AppError) return undefined // the full check reports the error
    throw error
  }
}

function isSameList(a: readonly unknown[] | undefined, b: readonly unknown[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && (a.length === 0 || JSON.stringify(a) === JSON.stringify(b))
}

/** Returns the part that rules must share to be worth comparing; undefined for input that is not a plain rule. */
function keyOf(input: unknown): string | undefined {
  if (!isPlainObject(input)) return undefined
  for (const key of Object.keys(input)) if (!KEYS.has(key)) return undefined
  let key = ''
  for (const list of [input['sensors'], input['actuators'] ?? []]) {
    if (!Array.isArray(list)) return undefined
    key += `${list.length}:`
    for (const node of list as readonly unknown[]) {
      if (!isPlainObject(node)) return undefined
      key += `${String(node['label'])}\n${String(node['name'])}\n`
    }
  }
  return key
}

function jsonOf(input: unknown): JsonRule | undefined {
  const text = JSON.stringify(input)
  if (text.length > MAX_TEXT || placeholdersIn(text) > MAX_PLACEHOLDERS) return undefined
  const rule = JSON.parse(text) as JsonRule
  const { task } = rule as Rule
  if (nodesOf(rule).length > MAX_NODES || task?.nodes !== undefined) return undefined
  // Values that JSON cannot represent are valid only where they are ignored.
  return haveSameText(input, rule) ? rule : undefined
}

function nodesOf({ sensors, actuators }: JsonRule): readonly Readonly<Record<string, unknown>>[] {
  return [...((sensors ?? []) as []), ...((actuators ?? []) as [])]
}

function placeholdersIn(text: string): number {
  return text.split('${').length + text.split('{{').length
}

function likeness<S>(input: unknown, { document, known }: Structure<S>): Likeness<S> | undefined {
  if (!isPlainObject(input) || !hasKeysOf(input, document)) return undefined
  const properties: (Properties | undefined)[] = []
  let task = {}
  for (const key of Object.keys(document)) {
    const value = input[key]
    if (key === 'sensors' || key === 'actuators') {
      if (!compareNodes(value, document[key] as readonly JsonRule[], properties)) return undefined
    } else if (key === 'task') {
      const found = namesOf(value, document[key] as JsonRule)
      if (found === undefined) return undefined
      task = found
    } else if (!haveSameText(value, document[key])) return undefined
  }
  return { known, changed: properties, task }
}

function compareNodes(list: unknown, nodes: readonly JsonRule[], found: (Properties | undefined)[]): boolean {
  if (!Array.isArray(list) || list.length !== nodes.length) return false
  for (let i = 0; i < nodes.length; i++) {
    const node: unknown = list[i]
    const known = nodes[i] as JsonRule
    if (!isPlainObject(node) || !hasKeysOf(node, known)) return false
    let properties: Properties | undefined
    for (const key of Object.keys(known)) {
      const value = node[key]
      if (haveSameText(value, known[key])) continue
      if (key !== 'properties' || !isPlainObject(value)) return false
      properties = value
    }
    found.push(properties)
  }
  return true
}

function namesOf(task: unknown, known: JsonRule): Pick<TaskSettings, 'name' | 'resource'> | undefined {
  if (!isPlainObject(task) || !hasKeysOf(task, known)) return undefined
  const names: Pick<TaskSettings, 'name' | 'resource'> = {}
  for (const key of Object.keys(known)) {
    const value = task[key]
    if (haveSameText(value, known[key])) continue
    if ((key !== 'name' && key !== 'resource') || !isName(value) || !isName(known[key])) return undefined
    names[key] = value
  }
  return names
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME
}
