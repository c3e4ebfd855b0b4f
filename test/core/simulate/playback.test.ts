import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import { play } from '../../../src/core/simulate/playback.ts'
import { simulate } from '../../../src/core/simulate/simulate.ts'
import type { EngineEvent } from '../../../src/core/engine/events.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { messageStreams } from '../../../src/testing/index.ts'
import { ruleArbitrary, RESOURCES } from '../../support/arbitraries/rules.ts'
import { asPlugs, OpenCalls } from '../../support/model/as-plugs.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { sensorPlug } from '../../support/make-plug.ts'

// Rules in one playback, or one after the other, have equal execution ids: attempts are not counted.
const uncounted = Object.assign(new Map<string, number>(), { get: () => undefined })
const plugs = asPlugs(new OpenCalls(), undefined, uncounted)
const streams = messageStreams({
  metrics: { x: fc.nat(20), y: fc.nat(20) },
  resources: RESOURCES,
  every: '1s',
  start: 0,
  disturbances: ['late', 'duplicate', 'missing', 'nan'],
  maxLength: 15,
})

/** A first message may be a day late: polls of that day find nothing before the others. */
const MINUTE = { from: 0, until: 60_000 }

describe('several rules in one playback', () => {
  it('behave as in separate runs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ruleArbitrary(), { minLength: 1, maxLength: 4 }), streams, async (rules, messages) => {
        const events = rules.map((): EngineEvent[] => [])
        const lanes = rules.map((rule, i) => ({ rule, onEvent: (event: EngineEvent) => void events[i]?.push(event) }))
        await play(lanes, { plugs, messages, ...MINUTE })
        for (const [i, rule] of rules.entries()) {
          const alone = await simulate(rule, { plugs, messages, ...MINUTE })
          expect(JSON.stringify(events[i])).toBe(JSON.stringify(alone.events))
        }
      }),
      runs(60),
    )
  })
})

describe('an engine without details', () => {
  it('returns the same events except those of every message', async () => {
    const isDetail = (event: EngineEvent): boolean =>
      ['tick', 'data', 'state', 'gate'].includes(event.type) || (event.type === 'result' && event.ok)
    await fc.assert(
      fc.asyncProperty(ruleArbitrary(), streams, async (rule, messages) => {
        const events: EngineEvent[] = []
        const lane = { rule, onEvent: (event: EngineEvent) => void events.push(event) }
        await play([lane], { plugs, messages, ...MINUTE }, { detail: false })
        const { events: all } = await simulate(rule, { plugs, messages, ...MINUTE })
        expect(events).toEqual(all.filter((event) => !isDetail(event)))
      }),
      runs(60),
    )
  })
})

describe('a playback', () => {
  /** Answers some promises later. */
  const slow = (name: string, kind: 'sensor' | 'actuator') =>
    definePlug({
      name,
      version: '1.0.0',
      kind,
      ...(kind === 'sensor' && { states: ['On'] }),
      async execute() {
        for (let i = 0; i < 5; i++) await Promise.resolve()
        return kind === 'sensor' ? 'On' : { message: 'done' }
      },
    })
  const chain: Rule = {
    sensors: [
      { label: 'first', name: 'slow', resource: 'r' },
      { label: 'second', name: 'slow' },
    ],
    actuators: [{ label: 'act', name: 'slowAct' }],
    triggers: [
      { sourceLabel: 'first', destinationLabel: 'second', statesTrigger: ['On'] },
      { sourceLabel: 'second', destinationLabel: 'act', statesTrigger: ['On'] },
    ],
  }
  const slowPlugs = [slow('slow', 'sensor'), slow('slowAct', 'actuator')]
  const pair = [0, 1000].map((timestamp) => ({ resource: 'r', timestamp }))

  it('waits for chains of asynchronous plugs before the clock advances', async () => {
    const { events } = await simulate(chain, { plugs: slowPlugs, messages: pair })
    const results = events.filter((event) => event.type === 'result').map(({ node, time }) => `${time} ${node}`)
    expect(results).toEqual(['0 first', '0 second', '0 act', '1000 first', '1000 second', '1000 act'])
  })

  it('continues without them after its patience', async () => {
    const never = sensorPlug('slow', ['On'], () => new Promise<undefined>(() => {}))
    const given: number[] = []
    const { until } = await simulate(chain, {
      plugs: [never, ...slowPlugs.slice(1)],
      messages: pair,
      patience(giveUp) {
        given.push(1)
        queueMicrotask(giveUp)
        return () => {}
      },
    })
    expect({ until, given: given.length }).toEqual({ until: 1000, given: 1 })
  })

  it('reports each step after all its consequences', async () => {
    const steps: string[] = []
    const counted: EngineEvent[] = []
    await play(
      [{ rule: chain, onEvent: (event) => void (event.type === 'result' && counted.push(event)) }],
      { plugs: slowPlugs, messages: pair, from: -500 },
      { onStep: ({ kind, time }) => void steps.push(`${kind} ${time}: ${counted.length}`) },
    )
    expect(steps).toEqual(['start -500: 0', 'message 0: 3', 'message 1000: 6'])
  })

  it('reports progress more often for more rules', async () => {
    const many = Array.from({ length: 4096 }, (_, i) => ({ resource: 'none', timestamp: i }))
    const told = async (lanes: number): Promise<number> => {
      let count = 0
      const rule: Rule = { sensors: [{ label: 's', name: 'slow', resource: 'r' }] }
      await play(
        Array.from({ length: lanes }, () => ({ rule })),
        { plugs: slowPlugs, messages: many, onProgress: () => void count++ },
      )
      return count
    }
    expect([await told(1), await told(4)]).toEqual([2, 5])
  })

  it('closes the recording when it cannot start', async () => {
    let closed = false
    function* recording() {
      try {
        yield* pair
      } finally {
        closed = true
      }
    }
    await expect(simulate({ ...chain, sensors: [] }, { plugs: slowPlugs, messages: recording() })).rejects.toThrow(
      'first',
    )
    expect(closed).toBe(true)
  })
})
