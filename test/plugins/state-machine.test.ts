import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { stateMachine } from '../../plugins/state-machine/plug.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { plugOfNode } from '../../src/core/plug/plug-of-node.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { simulate } from '../../src/index.ts'
import { checkPlug } from '../support/plug-context.ts'
import { runSeries } from '../support/plug-series.ts'

const registry = createRegistry(builtins)
const pump = {
  states: ['Off', 'Starting', 'On'],
  transitions: [
    { from: 'Off', to: 'Starting', when: 'pump == true' },
    { from: 'Starting', to: 'On', after: '1m' },
    { to: 'Off', when: 'pump == false' },
  ],
}
const rule = (properties: Record<string, unknown> = pump) => ({
  sensors: [{ label: 'm', name: 'stateMachine', resource: '$', properties }],
  actuators: [{ label: 'a', name: 'log', properties: { message: 'on' } }],
  triggers: [{ sourceLabel: 'm', destinationLabel: 'a', begins: ['On'] }],
  task: { resource: 'r' },
})

describe('stateMachine', () => {
  it('goes by conditions and by time', async () => {
    const minutes = (count: number) => new Date(Date.UTC(2026, 2, 1, 0, count)).toISOString()
    const run = await simulate(rule(), {
      plugs: builtins,
      resource: 'r',
      from: minutes(0),
      until: minutes(20),
      messages: [
        { resource: 'r', timestamp: minutes(1), pump: false },
        { resource: 'r', timestamp: minutes(2), pump: true },
        { resource: 'r', timestamp: minutes(5), pump: false },
        { resource: 'r', timestamp: minutes(6), pump: true },
        { resource: 'r', timestamp: minutes(6), pump: false },
        { resource: 'r', timestamp: minutes(8), other: 1 },
      ],
    })
    const states = run.events.flatMap((one) =>
      one.type === 'state' && one.to !== null ? [[one.to, (one.time - Date.UTC(2026, 2, 1)) / 60_000]] : [],
    )
    expect(states.filter(([state], i) => state !== states[i - 1]?.[0])).toEqual([
      ['Off', 1],
      ['Starting', 2],
      ['On', 3],
      ['Off', 5],
      ['Starting', 6],
      ['Off', 6],
    ])
    expect(run.events.filter(({ type }) => type === 'fired')).toHaveLength(1)
  })

  it('makes the first transition whose condition holds, one a run, and none over missing values', () => {
    const properties = {
      states: ['A', 'B', 'C'],
      transitions: [
        { from: 'A', to: 'C', when: 'x > y' },
        { from: ['A', 'B'], to: 'B', when: 'x > 1' },
        { from: 'B', to: 'C', when: 'x > 1', after: '2s' },
      ],
    }
    const plug = plugOfNode(stateMachine, properties)
    const messages = [{ x: 0 }, { x: 5 }, { x: 5 }, { z: 1 }, { x: 5 }]
    const ran = runSeries(plug, properties, messages, (i) => i * 1000)
    expect(ran.map(({ state }) => state)).toEqual(['A', 'B', 'B', 'B', 'B'])
    expect(ran[1]?.rawData).toEqual({ since: 1000, previous: 'A' })
  })

  it('alternates by time without a run, a bounded number of times', () => {
    const properties = {
      states: ['A', 'B'],
      transitions: [
        { from: 'A', to: 'B', after: '1s' },
        { from: 'B', to: 'A', after: '1s' },
      ],
    }
    const plug = plugOfNode(stateMachine, properties)
    const states = [0, 500, 1000, 2500, 3500].map(
      (now, i, all) =>
        runSeries(
          plug,
          properties,
          all.slice(0, i + 1).map(() => ({})),
          (j) => all[j] ?? now,
        ).at(-1)?.state,
    )
    expect(states).toEqual(['A', 'A', 'B', 'A', 'B'])
  })

  it('has the states of its properties in triggers', () => {
    expect(validateRule(rule(), registry).issues).toEqual([])
    const wrong = { ...rule(), triggers: [{ sourceLabel: 'm', destinationLabel: 'a', begins: ['Onn'] }] }
    expect(validateRule(wrong, registry).issues).toMatchObject([
      {
        type: 'STATE',
        message: 'trigger "m" -> "a": "m" has no state "Onn"',
      },
    ])
  })

  it.each<[Record<string, unknown>, string]>([
    [{ ...pump, states: ['Off', 'Starting', 'On', 'Lost'] }, 'states: the state "Lost" is unreachable from "Off"'],
    [{ ...pump, states: ['Off', 'Off'] }, 'states: the states are not a list of 1 to 100 distinct texts'],
    [{ ...pump, initial: 'Up' }, 'initial: "Up" is not one of the states'],
    [
      { ...pump, transitions: [{ from: 'Off', to: 'Up', when: 'x' }] },
      'transitions: transition 0: "Up" is not one of the states',
    ],
    [
      { ...pump, transitions: [{ from: 'Off', to: 'On' }] },
      'transitions: transition 0: when and after are both missing',
    ],
    [
      { ...pump, transitions: [{ to: 'On', if: 'x' }] },
      'transitions: transition 0: "if" is not one of from, to, when, after',
    ],
    [{ ...pump, transitions: [3] }, 'transitions: transition 0: it is not an object'],
    [{ ...pump, transitions: [{ to: 'On', when: 'x >' }] }, 'transitions: transition 0: '],
    [
      { ...pump, transitions: [{ to: 'On', after: 'soon' }] },
      'transitions: transition 0: "soon" is not a valid duration',
    ],
  ])('rejects %j', (properties, problem) => {
    expect(checkPlug(stateMachine, { ...properties }).join('\n')).toContain(problem)
    expect(validateRule(rule(properties), registry).issues.some(({ severity }) => severity === 'ERROR')).toBe(true)
  })
})
