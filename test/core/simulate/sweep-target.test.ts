import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Rule, Template } from '../../../src/core/rule/rule.ts'
import { findTarget } from '../../../src/core/simulate/sweep-target.ts'

const plugs = createRegistry(builtins)
const rule: Rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
    { label: 'hot.b', name: 'condition', resource: '$', properties: { condition: { '>': [{ var: 't' }, 5] } } },
  ],
  actuators: [{ label: 'alarm', name: 'log', properties: { message: '$limit' } }],
  triggers: [
    { sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 60 },
    { sourceLabel: 'hot.b', destinationLabel: 'alarm', statesTrigger: ['True'] },
  ],
  task: { variables: { depth: 1 } },
}
const template: Template = { ...rule, name: 'T', variables: [{ name: 'limit', type: 'double' }] }

function applied(to: Rule | Template, path: string, value: unknown): unknown {
  const target = findTarget(to, path, plugs)
  if ('message' in target) throw new Error(`${target.message}; ${target.suggestion}`)
  return target.apply(to, value)
}

describe('findTarget', () => {
  it('sets a property of a node without changing the rule', () => {
    const before = structuredClone(rule)
    expect(applied(rule, 'hot.threshold', 75)).toMatchObject({ sensors: [{ properties: { threshold: 75 } }, {}] })
    expect(rule).toEqual(before)
  })

  it('sets a value deep in a property, of the node with the longest matching label', () => {
    expect(applied(rule, 'hot.b.condition.>.1', 7)).toMatchObject({
      sensors: [{}, { properties: { condition: { '>': [{ var: 't' }, 7] } } }],
    })
  })

  it('sets a declared property that the rule omits', () => {
    expect(applied(rule, 'alarm.level', 'WARN')).toMatchObject({ actuators: [{ properties: { level: 'WARN' } }] })
  })

  it('sets fields of a node other than properties', () => {
    expect(applied(rule, 'hot.evictionTime', 5000)).toMatchObject({ sensors: [{ evictionTime: 5000 }, {}] })
  })

  it('sets the cool-down of all triggers of a node', () => {
    expect(applied(rule, 'alarm.invocationPolicy', 5)).toMatchObject({
      triggers: [{ invocationPolicy: 5 }, { invocationPolicy: 5 }],
    })
  })

  it.each([
    ['a variable that the task has', rule, 'depth'],
    ['a variable that only the text of the rule names', rule, 'limit'],
  ])('sets %s', (_, to, path) => {
    expect(applied(to, path, 3)).toMatchObject({ task: { variables: { [path]: 3 } } })
  })

  it('sets a declared variable of a template', () => {
    expect(applied(template, 'limit', 3)).toMatchObject({ taskDefaults: { variables: { limit: 3 } } })
  })

  it.each([
    ['hot.treshold', '"treshold" is not a property of hot; did you mean hot.threshold?'],
    ['hto.threshold', 'node "hto" does not exist; did you mean hot.threshold?'],
    ['alarm.invocationPolcy', '"invocationPolcy" is not a property of alarm; did you mean alarm.invocationPolicy?'],
    ['hot.b.condition.>.9', '"condition.>.9" is not a property of hot.b; did you mean hot.b.condition?'],
    ['dept', 'variable "dept" does not exist; did you mean depth?'],
    ['hot.properties.__proto__.x', '"hot.properties.__proto__.x" reaches a prototype'],
    ['hot.constructor', '"hot.constructor" reaches a prototype'],
  ])('rejects %s: %s', (path, message) => {
    expect(() => applied(rule, path, 1)).toThrow(message)
  })

  it("rejects a node that the task's overrides change, which would win", () => {
    const nodes = [{ name: 'hot', properties: { cost: 1 } }]
    expect(() => applied({ ...rule, task: { nodes } }, 'hot.threshold', 1)).toThrow(
      "hot is overridden by an entry in the task's nodes; change hot itself",
    )
  })
})

describe('a JSON pointer', () => {
  it.each<[string, Rule | Template, object]>([
    ['/sensors/0/properties/threshold', rule, { sensors: [{ properties: { threshold: 7 } }, {}] }],
    ['/sensors/1/evictionTime', rule, { sensors: [{}, { evictionTime: 7 }] }],
    ['/triggers/0/invocationPolicy', rule, { triggers: [{ invocationPolicy: 7 }, { invocationPolicy: 7 }] }],
    ['/task/variables/depth', rule, { task: { variables: { depth: 7 } } }],
    ['/variables/limit', template, { taskDefaults: { variables: { limit: 7 } } }],
  ])('%s is a target', (path, to, expected) => {
    expect(applied(to, path, 7)).toMatchObject(expected)
  })

  it.each([
    ['/sensors/0/properties/treshold', 'did you mean /sensors/0/properties/threshold?'],
    ['/sensors/9/properties/threshold', 'did you mean /sensors/0/properties/threshold?'],
    ['/__proto__/x', 'use a property of a node'],
    ['/', 'use one of '],
  ])('%s is not', (path, suggestion) => {
    const target = findTarget(rule, path, plugs)
    expect('message' in target && target.suggestion).toContain(suggestion)
  })
})
