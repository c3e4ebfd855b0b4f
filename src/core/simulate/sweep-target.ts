/**
 * Finds the target of a sweep in a rule: `node.property`, `node.invocationPolicy`, a variable, or a JSON pointer to one
 * of these such as `/sensors/0/properties/limit`.
 */
import { FORBIDDEN_KEYS, nearest, ownValue, stepsOf } from '#kernel'
import type { PlugRegistry } from '../plug/plug.ts'
import type { PlugNode, Rule, Template } from '../rule/rule.ts'
import { settingsOf } from '../rule/settings.ts'

export interface SweepTarget {
  readonly path: string
  apply(rule: Rule | Template, value: unknown): Rule | Template
}

export interface SweepProblem {
  readonly message: string
  readonly suggestion: string
}

/** Fields other than properties that a sweep may set. */
const SENSOR_FIELDS = ['evictionTime', 'pollingPeriod', 'sequence', 'timeout', 'schedule']
const ACTUATOR_FIELDS = ['timeout']
const COOL_DOWN = 'invocationPolicy'
const MAX_LISTED = 20

type List = 'sensors' | 'actuators'

interface NodeInList {
  readonly list: List
  readonly index: number
  readonly node: PlugNode
}

/** Resolves a path in a validated rule. A label may contain dots; the longest match wins. */
export function findTarget(rule: Rule | Template, path: string, plugs: PlugRegistry): SweepTarget | SweepProblem {
  if (path.split(/[./]/).some((part) => FORBIDDEN_KEYS.has(part)))
    return { message: `"${path}" reaches a prototype`, suggestion: 'use a property of a node' }
  if (path.startsWith('/')) return pointedTarget(rule, path, plugs)
  const nodes = nodesOf(rule)
  const found = nodes
    .filter(({ node }) => path.startsWith(`${node.label}.`))
    .toSorted((a, b) => b.node.label.length - a.node.label.length)[0]
  if (found === undefined) return variableOrProblem(rule, path, nodes, plugs)
  return targetIn(rule, found, plugs, path, path.slice(found.node.label.length + 1))
}

function pointedTarget(rule: Rule | Template, path: string, plugs: PlugRegistry): SweepTarget | SweepProblem {
  const [list = '', name = '', ...rest] = stepsOf(path)
  const found = nodesOf(rule).find((one) => one.list === list && String(one.index) === name)
  const inside = rest[0] === 'properties' ? rest.slice(1).join('.') : rest.join('.')
  if (found !== undefined && inside !== '') {
    const target = targetIn(rule, found, plugs, path, inside)
    return 'apply' in target ? target : { ...target, suggestion: guess(path, pointersOf(rule, plugs)) }
  }
  const trigger = list === 'triggers' && rest.join('/') === COOL_DOWN ? rule.triggers?.[Number(name)] : undefined
  if (trigger !== undefined)
    return { path, apply: (original, value) => withCoolDown(original, trigger.destinationLabel, value) }
  const isOfTask = list === 'task' || list === 'taskDefaults'
  const variable = list === 'variables' ? name : isOfTask && name === 'variables' ? rest.join('/') : undefined
  if (variable !== undefined && (variablesOf(rule).includes(variable) || mentions(rule, variable)))
    return { path, apply: (original, value) => withVariable(original, variable, value) }
  return { message: `"${path}" does not exist in the rule`, suggestion: guess(path, pointersOf(rule, plugs)) }
}

function pointersOf(rule: Rule | Template, plugs: PlugRegistry): readonly string[] {
  return [
    ...nodesOf(rule).flatMap((found) =>
      propertiesOf(found, plugs).map((name) => `/${found.list}/${found.index}/properties/${name}`),
    ),
    ...variablesOf(rule).map((name) => `/variables/${name}`),
  ]
}

function targetIn(
  rule: Rule | Template,
  found: NodeInList,
  plugs: PlugRegistry,
  path: string,
  rest: string,
): SweepTarget | SweepProblem {
  const { label } = found.node
  if (settingsOf(rule).nodes?.some(({ name }) => name === label)) {
    const suggestion = `change ${label} itself and remove its entry from nodes`
    return { message: `${label} is overridden by an entry in the task's nodes`, suggestion }
  }
  const keys = keysOf(found, plugs, rest)
  if (keys !== undefined) return { path, apply: (original, value) => withNode(original, found, keys, value) }
  if (rest === COOL_DOWN && rule.triggers?.some(({ destinationLabel }) => destinationLabel === label))
    return { path, apply: (original, value) => withCoolDown(original, label, value) }
  return noSuchProperty(rule, found, plugs, path, rest)
}

/** Returns the path from the node to the value. */
function keysOf({ list, node }: NodeInList, plugs: PlugRegistry, rest: string): readonly string[] | undefined {
  const { properties } = node
  const known = propertiesOf({ list, node }, plugs)
  if (known.includes(rest)) return ['properties', rest]
  const fields = list === 'sensors' ? SENSOR_FIELDS : ACTUATOR_FIELDS
  if (fields.includes(rest)) return [rest]
  const parts = rest.split('.')
  let value: unknown = properties
  for (const part of parts) value = ownValue(value, part)
  return value === undefined ? undefined : ['properties', ...parts]
}

function propertiesOf({ list, node }: Pick<NodeInList, 'list' | 'node'>, plugs: PlugRegistry): readonly string[] {
  const plug = plugs.find(list === 'sensors' ? 'sensor' : 'actuator', node.name, node.version)
  return [...new Set([...Object.keys(node.properties ?? {}), ...Object.keys(plug?.input ?? {})])]
}

function nodesOf(rule: Rule | Template): readonly NodeInList[] {
  const of = (list: List): NodeInList[] => (rule[list] ?? []).map((node, index) => ({ list, index, node }))
  return [...of('sensors'), ...of('actuators')]
}

function noSuchProperty(
  rule: Rule | Template,
  found: NodeInList,
  plugs: PlugRegistry,
  path: string,
  rest: string,
): SweepProblem {
  const { node, list } = found
  const names = [...propertiesOf(found, plugs), ...(list === 'sensors' ? SENSOR_FIELDS : ACTUATOR_FIELDS)]
  if (rule.triggers?.some(({ destinationLabel }) => destinationLabel === node.label)) names.push(COOL_DOWN)
  return {
    message: `"${rest}" is not a property of ${node.label}`,
    suggestion: guess(
      path,
      names.map((name) => `${node.label}.${name}`),
    ),
  }
}

function variableOrProblem(
  rule: Rule | Template,
  path: string,
  nodes: readonly NodeInList[],
  plugs: PlugRegistry,
): SweepTarget | SweepProblem {
  const variables = variablesOf(rule)
  if (variables.includes(path) || mentions(rule, path)) {
    return { path, apply: (original, value) => withVariable(original, path, value) }
  }
  const properties = nodes.flatMap((found) => propertiesOf(found, plugs).map((name) => `${found.node.label}.${name}`))
  const dot = path.indexOf('.')
  const message = dot > 0 ? `node "${path.slice(0, dot)}" does not exist` : `variable "${path}" does not exist`
  return { message, suggestion: guess(path, [...properties, ...variables]) }
}

function variablesOf(rule: Rule | Template): readonly string[] {
  if (!('name' in rule)) return Object.keys(rule.task?.variables ?? {})
  const declared = (rule.variables ?? []).map(({ name }) => name)
  return [...declared, ...Object.keys(rule.taskDefaults?.variables ?? {})]
}

/** Whether a rule mentions a variable, since it may use a variable that only its task declares. */
function mentions(rule: Rule | Template, name: string): boolean {
  if (!/^\w+$/.test(name)) return false
  const text = JSON.stringify(rule)
  return [`"$${name}"`, `variables.${name}`].some((use) => text.includes(use))
}

function guess(path: string, known: readonly string[]): string {
  const near = nearest(path, known)
  if (near !== undefined) return `did you mean ${near}?`
  const more = known.length > MAX_LISTED ? ` and ${known.length - MAX_LISTED} more` : ''
  return known.length === 0
    ? 'the rule does not have any'
    : `use one of ${known.slice(0, MAX_LISTED).join(', ')}${more}`
}

function withNode(
  rule: Rule | Template,
  { list, index }: NodeInList,
  keys: readonly string[],
  value: unknown,
): Rule | Template {
  const changed = structuredClone(rule)
  let container: unknown = changed[list]?.[index]
  for (const key of keys.slice(0, -1)) {
    const inner = ownValue(container, key)
    const next = inner ?? {}
    if (inner === undefined) Object.assign(container as object, { [key]: next })
    container = next
  }
  Object.assign(container as object, { [keys.at(-1) ?? '']: value })
  return changed
}

function withCoolDown(rule: Rule | Template, label: string, value: unknown): Rule | Template {
  const triggers = (rule.triggers ?? []).map((trigger) =>
    trigger.destinationLabel === label ? { ...trigger, [COOL_DOWN]: value as number } : trigger,
  )
  return { ...rule, triggers }
}

function withVariable(rule: Rule | Template, name: string, value: unknown): Rule | Template {
  if ('name' in rule) {
    const variables = { ...rule.taskDefaults?.variables, [name]: value }
    return { ...rule, taskDefaults: { ...rule.taskDefaults, variables } }
  }
  const { task } = rule
  return { ...rule, task: { ...task, variables: { ...task?.variables, [name]: value } } }
}
