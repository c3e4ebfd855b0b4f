import { describe, expect, expectTypeOf, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { validateRule, validateTemplate } from '../../src/core/rule/validate.ts'
import { definePlug } from '../../src/index.ts'
import { code, graph, rules, template, text, type Value, values } from '../../src/rules/index.ts'

interface Boiler {
  temperature: number
  pump: boolean
  mode: 'eco' | 'full'
}

const registry = createRegistry(builtins)
const { temperature, pump } = values<Boiler>()

describe('graph', () => {
  const rule = graph({ name: 'hot', resource: 'boiler-1', variables: { limit: 90 } }, (g, { limit }) => {
    const hot = g.sensor('hot', 'streamingDataSensor', { parameter: 'temperature', threshold: limit })
    const still = g.sensor('still', 'holdsFor', { condition: code`${pump} == ${false}`, duration: '5m' })
    const both = g.all('both', hot.is('Above'), still.is('Holds'))
    const raise = g.actuator('raise', 'createAlarm', {
      type: 'HOT',
      severity: 'MAJOR',
      text: text`${hot.data.data} degrees`,
    })
    const clear = g.actuator('clear', 'clearAlarm', { type: 'HOT' })
    g.fire(both.begins('TRUE'), raise, { atMostEvery: '5m' })
    g.fire(both.ends('TRUE'), clear)
  })

  it('is the JSON of a rule', () => {
    expect(JSON.parse(JSON.stringify(rule))).toEqual({
      sensors: [
        {
          label: 'hot',
          name: 'streamingDataSensor',
          resource: '$',
          properties: { parameter: 'temperature', threshold: '${variables.limit}' },
        },
        {
          label: 'still',
          name: 'holdsFor',
          resource: '$',
          properties: { condition: 'streamdata.pump == false', duration: '5m' },
        },
      ],
      relations: [{ label: 'both', type: 'AND', parentLabels: ['hot', 'still'], combinations: [['Above', 'Holds']] }],
      actuators: [
        {
          label: 'raise',
          name: 'createAlarm',
          properties: { type: 'HOT', severity: 'MAJOR', text: '${nodes.hot.rawData.data} degrees' },
        },
        { label: 'clear', name: 'clearAlarm', properties: { type: 'HOT' } },
      ],
      triggers: [
        { sourceLabel: 'both', destinationLabel: 'raise', begins: ['TRUE'], invocationPolicy: 300 },
        { sourceLabel: 'both', destinationLabel: 'clear', ends: ['TRUE'] },
      ],
      task: { name: 'hot', resource: 'boiler-1', variables: { limit: 90 } },
    })
    expect(validateRule(rule, registry).issues).toEqual([])
  })

  it('knows the types of raw data, states and variables', () => {
    graph({ variables: { limit: 5 } }, (g, variables) => {
      const hot = g.sensor('hot', 'streamingDataSensor', { parameter: 'temperature', threshold: 90 })
      expectTypeOf(hot.data.data).toEqualTypeOf<Value<number>>()
      expectTypeOf(hot.state).toEqualTypeOf<Value<'Below' | 'Equal' | 'Above'>>()
      expectTypeOf(variables.limit).toEqualTypeOf<Value<number>>()
      expectTypeOf(temperature).toEqualTypeOf<Value<number>>()
    })
  })

  it('rejects two nodes with one label, and a cool-down without whole seconds', () => {
    const twice = () =>
      graph({}, (g) => {
        g.sensor('a', 'alwaysON')
        g.sensor('a', 'alwaysON')
      })
    expect(twice).toThrow('label: "a" is already a node of this rule; use another label')
    const often = () =>
      graph({}, (g) => {
        const on = g.sensor('a', 'alwaysON')
        g.fire(on, g.actuator('b', 'log', { message: 'x' }), { atMostEvery: '250ms' })
      })
    expect(often).toThrow('atMostEvery: "250ms" is not a number of whole seconds; use a form such as 5m')
  })

  it('writes names that are not identifiers in quotes, and texts that look like placeholders as texts', () => {
    const made = graph({}, (g) => {
      const odd = g.sensor('my "node"', 'stream')
      g.sensor('b', 'condition', { condition: code`${odd.data.stream.at('a-b')} == ${'${task.TASK_ID}'}` })
    })
    expect(made.sensors?.[1]?.properties).toEqual({
      condition: String.raw`nodes["my \"node\""].rawData.stream["a-b"] == "\u0024{task.TASK_ID}"`,
    })
    expect(validateRule(made, registry).issues).toEqual([])
  })
})

describe('template', () => {
  it('declares its variables with their types', () => {
    const made = template(
      { name: 'hot', variables: { limit: { type: 'double', defaultValue: 90 }, place: 'string' } },
      (g, { limit, place }) => {
        expectTypeOf(limit).toEqualTypeOf<Value<number>>()
        const hot = g.sensor(
          'hot',
          'inRange',
          { value: temperature, lowerLimit: 0, upperLimit: limit },
          { resource: place },
        )
        g.fire(hot.is('Above'), g.actuator('tell', 'log', { message: text`${place}: ${temperature}` }))
      },
    )
    expect(made).toMatchObject({
      name: 'hot',
      variables: [
        { name: 'limit', type: 'double', defaultValue: 90 },
        { name: 'place', type: 'string' },
      ],
      sensors: [
        { resource: '$place', properties: { value: '${streamdata.temperature}', upperLimit: '${variables.limit}' } },
      ],
    })
    expect(validateTemplate(made, registry).issues).toEqual([])
  })
})

describe('rules', () => {
  it('knows plugs of the user', () => {
    const valve = definePlug({
      name: 'valve',
      version: '1.0.0',
      kind: 'sensor',
      states: ['Open', 'Closed'],
      input: { mode: { type: 'enum', values: ['fast', 'slow'], mandatory: true } },
      output: { angle: { type: 'double' } },
      execute: () => 'Open',
    })
    const own = rules([valve])
    const made = own.graph({}, (g) => {
      const node = g.sensor('v', 'valve', { mode: 'fast' })
      expectTypeOf(node.data.angle).toEqualTypeOf<Value<number>>()
      g.fire(node.changes('Open', 'Closed'), g.actuator('tell', 'log', { message: 'closed' }))
    })
    expect(validateRule(made, createRegistry([...builtins, valve])).issues).toEqual([])
  })
})
