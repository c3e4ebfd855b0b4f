import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { type Rule } from '../../../src/index.ts'
import {
  always,
  fires,
  implies,
  inState,
  leadsTo,
  never,
  neverMoreThan,
  proveRule,
  readings,
  reads,
  walk,
  type ProveOptions,
  type RuleProperty,
} from '../../../src/testing/index.ts'
import { gapClasses, inputClasses, valueClasses } from '../../../src/testing/prove/input-classes.ts'
import { stateKey } from '../../../src/testing/prove/prove-rule.ts'
import { sensorPlug } from '../../support/make-plug.ts'

const hot: Rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
  ],
  actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 120 }],
  task: { resource: 'boiler' },
}
const code: Rule = {
  ...hot,
  sensors: [{ label: 'hot', name: 'holdsFor', resource: '$', properties: { condition: "code == 'E7'", count: 3 } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Holds'] }],
}
const options: ProveOptions = { plugs: builtins, metrics: { t: readings(60, 120) }, tail: '5m' }
const above90 = reads('t', (value) => Number(value) > 90)
const holding = (property: RuleProperty, rule = hot, more: Partial<ProveOptions> = {}) =>
  proveRule(rule, property, { ...options, ...more })

describe('proveRule', () => {
  it('holds for sequences of any length once no new state is reached', async () => {
    const proof = await holding(neverMoreThan(1, { within: '2m', node: 'alarm' }), hot, { length: 20 })
    expect(proof.isComplete).toBe(true)
    expect(proof.toString()).toMatch(/for sequences of any length: \d+ states/)
    expect((await holding(always(implies(fires('alarm'), above90)), hot, { length: 20 })).isComplete).toBe(true)
  })

  it('finds the shortest counterexample, and reports it as a check does', async () => {
    await expect(holding(neverMoreThan(1, { within: '121s', node: 'alarm' }))).rejects.toMatchObject({
      code: 'PROPERTY',
      failing: { messages: [{ resource: 'boiler' }, { resource: 'boiler' }] },
    })
    await expect(
      holding(never(fires('alarm')), code, { metrics: { code: fc.constantFrom('OK', 'E7') } }),
    ).rejects.toMatchObject({
      failing: { messages: [{ code: 'E7' }, { code: 'E7' }, { code: 'E7' }] },
    })
  })

  it('distinguishes states by the memory of plugs', async () => {
    const settling = sensorPlug('settling', ['Yes', 'No'], {
      execute(context) {
        const before = context.internalState as { since: number } | undefined
        const since = before?.since ?? context.now
        return { state: context.now - since >= 1_800_000 ? 'Yes' : 'No', internalState: { since } }
      },
    })
    const stays: Rule = {
      ...code,
      sensors: [{ label: 'hot', name: 'settling', resource: '$', properties: {} }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Yes'] }],
    }
    const slow = { plugs: [...builtins, settling], gaps: [600_000], values: { t: [80] }, length: 5 }
    await expect(holding(never(fires('alarm')), stays, slow)).rejects.toThrow('never alarm fires')
  })

  it('reports the failing call of a plug', async () => {
    const fragile = sensorPlug('fragile', ['Fine'], {
      execute(context) {
        if (context.streamValue('t') === 90) throw new Error('on the fence')
        return 'Fine'
      },
    })
    const breaks: Rule = {
      ...hot,
      sensors: [{ label: 'hot', name: 'fragile', resource: '$', properties: {} }],
      triggers: [],
    }
    const check = holding(never(fires('alarm')), breaks, { plugs: [...builtins, fragile], values: { t: [80, 90] } })
    await expect(check).rejects.toThrow(/hot failed at .* with \{"t":90\}: on the fence/)
  })

  it('covers the passing of time without messages', async () => {
    const property = leadsTo(inState('hot', 'Above'), fires('nobody'), { within: '4m' })
    await expect(holding({ ...property, labels: {} })).rejects.toThrow('5 min later')
  })

  it('stops at the limit of states or steps, and reports that', async () => {
    const bounded = await holding(neverMoreThan(1, { within: '2m' }), hot, { maxStates: 3 })
    expect(bounded).toMatchObject({ isComplete: false, states: 3, length: 0 })
    const short = await holding(neverMoreThan(1, { within: '2m' }), hot, { length: 1 })
    expect(short).toMatchObject({ isComplete: false, length: 1 })
  })

  it.each<[string, RuleProperty, Partial<ProveOptions>, string]>([
    ['a property of whole runs', { name: 'odd', check: () => true }, {}, '"odd" cannot be checked at single moments'],
    ['a signal', never(fires()), { metrics: { t: walk(0, 9, 1) } }, 't is a signal; a proof needs readings(...)'],
    [
      'too many inputs',
      never(fires()),
      { values: { t: Array.from({ length: 900 }, (_, i) => i) } },
      'too many to try all',
    ],
  ])('rejects %s', async (_, property, more, text) => {
    await expect(holding(property, hot, more)).rejects.toThrow(text)
  })
})

describe('classes of inputs', () => {
  it('contain one value below, at and above each reachable constant', () => {
    const values = valueClasses(readings(60, 120), [90, 200]) as number[]
    expect(values).toHaveLength(3)
    const [low, at, high] = values as [number, number, number]
    expect(low < 90 && at === 90 && high > 90).toBe(true)
  })
  it('contain both booleans, named texts and one other text', () => {
    expect(new Set(valueClasses(fc.boolean(), []))).toEqual(new Set([false, true]))
    expect(valueClasses(fc.constantFrom('OK', 'E1', 'E7'), ['E7'])).toEqual(['E7', expect.stringMatching(/^(OK|E1)$/)])
  })
  it('contain gaps just below and at each duration', () => {
    expect(gapClasses(1000, { durations: [5000] })).toEqual([1000, 4999, 5000])
  })
  it('are combined for each resource', () => {
    const inputs = inputClasses([1, 2], { a: { t: [1, 2], u: [3] }, b: { v: [4] } })
    expect(inputs).toHaveLength(6)
    expect(inputs).toContainEqual({ gap: 2, resource: 'a', values: { t: 2, u: 3 } })
  })
})

describe('stateKey', () => {
  const at = (now: number, firedAt: number) =>
    stateKey({ sensors: { a: { firedAt, since: now } }, run: now }, [], now, 1000)
  const NOW = 1_741_000_000_000
  it('distinguishes times by their age, and drops those that nothing waits for', () => {
    expect(at(NOW, NOW - 10)).toBe(at(NOW + 5000, NOW + 4990))
    expect(at(NOW, NOW - 10)).not.toBe(at(NOW, NOW - 11))
    expect(at(NOW, NOW - 1001)).toBe(at(NOW, NOW - 5000))
    expect(at(NOW, NOW + 10)).not.toBe(at(NOW, NOW - 10))
  })
  it('includes the memory of plugs and monitors, under any names', () => {
    const saved = (since: number) => ({ sensors: { a: { internalState: { since, run: 1 }, since } } })
    expect(stateKey(saved(NOW - 10), [], NOW, 1000)).not.toBe(stateKey(saved(NOW - 20), [], NOW, 1000))
    expect(stateKey({}, [{ since: 1 }], NOW, 1000)).not.toBe(stateKey({}, [{ since: 2 }], NOW, 1000))
  })
})
