import { describe, expect, it } from 'vitest'
import { compileRule } from '../../../src/core/graph/compile.ts'
import { ANY, type Graph, type SensorNode } from '../../../src/core/graph/graph.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { Plug } from '../../../src/core/plug/plug.ts'
import type { Actuator, Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { gate, general, is, rule, trigger, turns } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'
import { sensorPlug } from '../../support/make-plug.ts'

const picky = sensorPlug('picky', ['Off', 'On'], {
  input: { limit: { type: 'integer', mandatory: true }, mode: { type: 'string', defaultValue: 'plain' } },
  prepare: ({ limit }) => ({ twice: limit * 2 }),
  execute: () => undefined,
})
const plugs = createRegistry([...new ScriptedPlugs().plugs, picky])
const compile = (given: Rule): Graph => compileRule(given, plugs).graph
const labels = (nodes: readonly { label: string }[]) => nodes.map(({ label }) => label)

function sensorOf(graph: Graph, label: string): SensorNode {
  const node = graph.byLabel.get(label)
  if (node?.kind !== 'sensor') throw new Error(`${label} is no sensor`)
  return node
}

describe('the sources that run a sensor', () => {
  const table: readonly (readonly [string, Omit<Sensor, 'label' | 'name'>, boolean, string])[] = [
    ['no flags, no resource', {}, false, 'tick'],
    ['no flags, a resource', { resource: 'r' }, false, 'tick data'],
    ['tickTrigger false', { tickTrigger: false }, false, ''],
    ['tickTrigger false with a resource', { tickTrigger: false, resource: 'r' }, false, 'data'],
    ['dataTrigger false', { dataTrigger: false, resource: 'r' }, false, 'tick'],
    ['dataTrigger true without a resource', { dataTrigger: true }, false, 'tick'],
    ['an empty resource', { resource: '' }, false, 'tick'],
    ['a period of its own', { pollingPeriod: 500, resource: 'r' }, false, 'own data'],
    ['a schedule of its own', { schedule: '0 0 * * * ?', tickTrigger: true }, false, 'own'],
    ['behind a trigger', {}, true, ''],
    ['behind a trigger, tickTrigger true', { tickTrigger: true }, true, ''],
    ['behind a trigger, with a resource', { resource: 'r' }, true, ''],
    ['behind a trigger, dataTrigger written out', { resource: 'r', dataTrigger: true }, true, 'data'],
    ['behind a trigger, with a period', { pollingPeriod: 500 }, true, ''],
    ['behind a trigger, with a schedule', { schedule: '0 0 * * * ?' }, true, ''],
  ]
  it.each(table)('%s', (_, more, conditional, expected) => {
    const sensors = { root: { name: 'switch', tickTrigger: false, dataTrigger: false }, s: { name: 'switch', ...more } }
    const sensor = sensorOf(compile(rule({ sensors, triggers: conditional ? [trigger('root', 's')] : [] })), 's')
    expect(sensor.conditional).toBe(conditional)
    const causes = [
      sensor.onTick && 'tick',
      (sensor.pollingPeriod !== undefined || sensor.schedule !== undefined) && 'own',
      sensor.onData && 'data',
    ]
    expect(causes.filter(Boolean).join(' ')).toBe(expected)
  })

  it('is listed in the plans of the tick and of each resource', () => {
    const graph = compile(
      rule({
        sensors: {
          a: { name: 'switch', resource: 'x' },
          b: { name: 'switch', resource: 'y' },
          c: { name: 'switch', resource: 'x', tickTrigger: false },
          d: 'switch',
        },
        actuators: [{ label: 'act', resource: 'z' }, 'mute'],
      }),
    )
    expect(labels(graph.tickPlan.sensors)).toEqual(['a', 'b', 'd'])
    expect(graph.resources.map(({ text }) => text)).toEqual(['x', 'y', 'z'])
    expect(graph.dataPlans.map((plan) => labels(plan.sensors))).toEqual([['a', 'c'], ['b'], []])
    expect(graph.actuators.map(({ resource }) => resource)).toEqual([2, -1])
  })
})

describe('the defaults of a node', () => {
  it('are sequence 1, no eviction, a time limit of 50 s, no retry, no pause, a fixed rate', () => {
    const sensor = sensorOf(compile(rule({ sensors: { s: 'switch' } })), 's')
    expect(sensor).toMatchObject({ sequence: 1, evictionTime: Infinity, timeoutState: -1, pollingFixedRate: true })
    expect(sensor.call).toMatchObject({ timeoutMs: 50_000, retry: undefined, pauseMs: undefined, loop: undefined })
  })

  it('of a retry are back-offs from 1 s to 1 min, of a pause one hour', () => {
    const more = { name: 'switch', retryConfig: { maxRetries: 3, errorState: 'On' }, pauseExecution: true }
    const { call } = sensorOf(compile(rule({ sensors: { s: more } })), 's')
    expect(call.retry).toEqual({ maxRetries: 3, minBackoffMs: 1000, maxBackoffMs: 60_000, errorState: 1 })
    expect(call.pauseMs).toBe(3_600_000)
  })

  it('of a retry are those of the plug, unless the rule has its own', () => {
    const sent: Plug = definePlug({
      name: 'sent',
      version: '1.0.0',
      kind: 'actuator',
      retry: { maxRetries: 5, minBackoff: 'PT2S', maxBackoff: 'PT30S' },
      execute: () => undefined,
    })
    const registry = createRegistry([...new ScriptedPlugs().plugs, sent])
    const retryOf = (more: Partial<Actuator>) => {
      const written = rule({ sensors: { s: 'switch' }, actuators: ['a'], triggers: [trigger('s', 'a')] })
      const actuators = written.actuators?.map((one) => ({ ...one, name: 'sent', ...more })) ?? []
      return compileRule({ ...written, actuators }, registry).graph.actuators[0]?.call.retry
    }
    expect(retryOf({})).toEqual({ maxRetries: 5, minBackoffMs: 2000, maxBackoffMs: 30_000, errorState: -1 })
    expect(retryOf({ retryConfig: { maxRetries: 0 } })).toMatchObject({ maxRetries: 0, minBackoffMs: 1000 })
  })

  it('are overridden by the rule: time limit, its state, pause limit', () => {
    const more = {
      name: 'switch',
      timeout: 'PT2S',
      timeoutState: 'On',
      pauseExecution: true,
      pauseExecutionTimeout: 'PT5M',
    }
    const sensor = sensorOf(compile(rule({ sensors: { s: more } })), 's')
    expect(sensor.timeoutState).toBe(1)
    expect(sensor.call).toMatchObject({ timeoutMs: 2000, pauseMs: 300_000 })
  })
})

describe('constant properties', () => {
  it('are completed with defaults and prepared once', () => {
    const { graph, properties } = compileRule(
      rule({ sensors: { s: { name: 'picky', properties: { limit: 4 } } } }),
      plugs,
    )
    const { call } = sensorOf(graph, 's')
    const own = properties.of(call)
    expect(call.isConstant).toBe(true)
    expect(own.constant).toEqual({ limit: 4, mode: 'plain' })
    expect(own.prepared).toEqual({ twice: 8 })
  })

  it('are resolved at the call if one has a placeholder', () => {
    const given = { limit: '${streamdata.limit}' }
    const { graph, properties } = compileRule(rule({ sensors: { s: { name: 'picky', properties: given } } }), plugs)
    const { call } = sensorOf(graph, 's')
    expect(call.isConstant).toBe(false)
    expect(properties.of(call)).toMatchObject({ constant: undefined, prepared: undefined })
  })

  it('are rejected when the plug cannot prepare them', () => {
    const given = rule({ sensors: { s: { name: 'picky', properties: {} } } })
    expect(() => compile(given)).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
    expect(() => compile(given)).toThrow(/node s: .*limit/)
  })
})

describe('consequences of an observation', () => {
  const graph = compile(
    rule({
      sensors: { a: 'switch', b: 'switch', c: 'switch' },
      actuators: ['act'],
      relations: [gate('top', 'AND', ['low', 'TRUE'], ['b', 'On']), gate('low', 'OR', ['a', 'On'], ['b', 'On'])],
      triggers: [
        trigger('top', 'act', is('TRUE')),
        trigger('b', 'c', is('On')),
        trigger('a', 'act'),
        trigger('low', 'act', turns('*', 'TRUE')),
        trigger('b', 'act', turns('', ''), is()),
      ],
    }),
  )

  it.each([
    ['a', ['low', 'top'], [0, 2, 3], ['low', 'act']],
    ['b', ['low', 'top'], [0, 1, 3, 4], ['top', 'low', 'c', 'act']],
    ['c', [], [], []],
  ])('of %s: gates parents first, triggers as declared, and direct followers', (...row) => {
    const [label, gates, triggers, followers] = row
    const sensor = sensorOf(graph, label)
    expect(labels(sensor.gates)).toEqual(gates)
    expect(sensor.triggers.map(({ order }) => order)).toEqual(triggers)
    expect(labels(sensor.followers).toSorted()).toEqual(followers.toSorted())
  })

  it('have conditions as indexes of states, and omit empty conditions', () => {
    const [top, , , low, empty] = graph.triggers
    expect(top).toMatchObject({ states: [true, false], change: undefined, policyMs: 0 })
    expect(low).toMatchObject({ states: undefined, change: { from: ANY, to: 0 } })
    expect(empty).toMatchObject({ states: undefined, change: undefined })
  })

  it('list the rows of a GENERAL gate once each', () => {
    const rows = [
      ['On', 'Off'],
      ['Off', 'On'],
      ['On', 'Off'],
    ] as const
    const built = compile(
      rule({ sensors: { a: 'switch', b: 'switch' }, relations: [general('g', ['a', 'b'], ...rows)] }),
    )
    expect(built.gates[0]?.rows).toEqual([
      [1, 0],
      [0, 1],
    ])
  })
})

describe('a rule that was not validated', () => {
  it.each([
    ['an unknown plug', rule({ sensors: { s: 'nothing' } }), 'PLUG', 'Plugin nothing:latest not found for sensor s'],
    ['an actuator as sensor', rule({ sensors: { s: 'act' } }), 'PLUG', 'Plugin act:latest not found'],
    [
      'an unknown parent',
      rule({ relations: [gate('g', 'AND', ['s', 'On'])] }),
      'VALIDATION',
      'relation g names s, which is not a sensor or relation',
    ],
    [
      'an actuator as source',
      rule({ actuators: ['x', 'y'], triggers: [trigger('x', 'y')] }),
      'VALIDATION',
      'trigger 0 names x',
    ],
    [
      'a gate as destination',
      rule({ sensors: { s: 'switch' }, relations: [gate('g', 'AND', ['s', 'On'])], triggers: [trigger('s', 'g')] }),
      'VALIDATION',
      'trigger 0 leads to g, which is not a sensor or actuator',
    ],
  ] as const)('is rejected for %s', (_, given, code, text) => {
    expect(() => compile(given)).toThrow(expect.objectContaining({ code }))
    expect(() => compile(given)).toThrow(text)
  })
})
