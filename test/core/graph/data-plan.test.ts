import { describe, expect, it } from 'vitest'
import { compileRule } from '../../../src/core/graph/compile.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { definePlug, type Rule } from '../../../src/index.ts'
import { trigger } from '../../support/rule-writing.ts'

const own = { version: '1.0.0', kind: 'sensor', states: ['On'], execute: () => 'On' as const } as const
const plugs = createRegistry([
  definePlug({ ...own, name: 'asks', parameters: ['a'], input: { with: { type: 'any' } } }),
  definePlug({
    ...own,
    name: 'asksFor',
    parameters: ({ name }) => (typeof name === 'string' ? [name] : undefined),
    input: { name: { type: 'string' }, other: { type: 'any' } },
  }),
  definePlug({
    ...own,
    name: 'reads',
    parameters: [],
    input: {
      value: { type: 'any' },
      code: { type: 'any', format: { type: 'code' } },
      text: { type: 'string', format: { type: 'template' } },
    },
  }),
  definePlug({ ...own, name: 'silent', input: { value: { type: 'any' } } }),
])

function sensor(label: string, name: string, properties: Record<string, unknown> = {}, more: object = {}) {
  return { label, name, resource: 'r', properties, ...more }
}

function compile(rule: Rule, streamVariables: readonly string[] = []) {
  return compileRule(rule, plugs, streamVariables).graph
}

const parametersOf = (name: string, properties: Record<string, unknown>, variables: readonly string[] = []) =>
  compile({ sensors: [sensor('s', name, properties)] }, variables).sensors[0]?.parameters

describe('values of messages that run a sensor', () => {
  it.each<[string, string, Record<string, unknown>, readonly string[] | undefined]>([
    ['what its plug asks for', 'asks', {}, ['a']],
    ['that and what its placeholders read', 'asks', { with: 'x ${streamdata.b.c} $${?streamdata.d}' }, ['a', 'b', 'd']],
    ['what its plug asks for by a property', 'asksFor', { name: 'x' }, ['x']],
    ['unknown if that property is resolved at run time', 'asksFor', { name: '${variables.n}' }, undefined],
    [
      'what other properties read that are known only later',
      'asksFor',
      { name: 'x', other: '${streamdata.y}' },
      ['x', 'y'],
    ],
    ['what an expression reads', 'reads', { code: 'a > 1 && streamdata.b < nodes.n.rawData.c' }, ['a', 'b']],
    ['what statements read', 'reads', { code: 'const two = a * 2; return two > b' }, ['a', 'b']],
    ['what JSON Logic reads', 'reads', { code: { '>': [{ var: 'a' }, { var: ['b', 1] }] } }, ['a', 'b']],
    ['what a template reads', 'reads', { text: '{{GLOBAL.a}} of {{n.x}} and ${streamdata.b}' }, ['a', 'b']],
    ['nothing when it reads other nodes alone', 'reads', { value: '${nodes.n.rawData.a}' }, undefined],
    ['unknown for a plug that declares nothing', 'silent', { value: '${streamdata.a}' }, undefined],
  ])('are %s', (_, name, properties, expected) => {
    expect(parametersOf(name, properties)).toEqual(expected)
  })

  it('include a variable that a value of the message replaces', () => {
    expect(parametersOf('asks', { with: '${variables.limit}' }, ['limit', 'other'])).toEqual(['a', 'limit'])
    expect(parametersOf('reads', { code: 'a > variables.limit' }, ['limit'])).toEqual(['a', 'limit'])
  })

  it('include what its loop reads', () => {
    const { sensors } = compile({ sensors: [sensor('s', 'asks', {}, { loopDef: '${streamdata.list}' })] })
    expect(sensors[0]?.parameters).toEqual(['a', 'list'])
  })
})

describe('the part of a plan for a message', () => {
  const graph = compile({
    sensors: [
      sensor('a', 'asks', {}, { sequence: 2 }),
      sensor('b', 'asksFor', { name: 'b' }),
      sensor('every', 'silent'),
      { label: 'after a', name: 'silent' },
    ],
    triggers: [trigger('a', 'after a')],
  })
  const [plan] = graph.dataPlans
  const part = (message: Record<string, unknown>) => plan?.partFor(message)
  const labels = (sensors: readonly { label: string }[] = []) => sensors.map(({ label }) => label)

  it('is the whole plan for a message with values for each sensor', () => {
    expect(part({ a: 1, b: 2 })).toBe(plan)
    expect(labels(plan?.sensors)).toEqual(['a', 'b', 'every'])
  })

  it.each<[string, Record<string, unknown>, string[], string[]]>([
    ['has one value', { b: 1 }, ['b', 'every'], ['b', 'every']],
    ['has the other', { a: null }, ['a', 'every'], ['a', 'every', 'after a']],
    ['has none of them', { c: 1 }, ['every'], ['every']],
    ['has undefined for one', { a: undefined, b: false }, ['b', 'every'], ['b', 'every']],
    ['only inherits one', Object.create({ a: () => 1 }) as Record<string, unknown>, ['every'], ['every']],
  ])('neither runs nor resets sensors without a value in the message when it %s', (_, message, runs, resets) => {
    expect(labels(part(message)?.sensors)).toEqual(runs)
    expect(labels(part(message)?.reset)).toEqual(resets)
  })

  it('is created once', () => {
    expect(part({ a: 1 })).toBe(part({ a: 2, c: 3 }))
  })

  it('stays correct beyond the number of cached kinds of messages', () => {
    const names = Array.from({ length: 10 }, (_, i) => `n${i}`)
    const wide = compile({ sensors: names.map((name) => sensor(name, 'asksFor', { name })) }).dataPlans[0]
    for (let kind = 0; kind < 1024; kind++) {
      const had = names.filter((_, i) => (kind >> i) % 2 === 1)
      expect(labels(wide?.partFor(Object.fromEntries(had.map((name) => [name, 1])))?.sensors)).toEqual(had)
    }
  })
})
