import { describe, expect, it } from 'vitest'
import { explanationText } from '../../../src/core/sentences/explanation-text.ts'
import { heldText, REASONS } from '../../../src/core/sentences/reasons.ts'
import type { Explanation, Obstacle, TriggerExplanation } from '../../../src/core/task/explain.ts'
import { hotAndStill } from '../../cli/report/events.ts'

const clock = (instant: number) => `${instant} ms`
const text = (part: Partial<Explanation>) =>
  explanationText({ node: 'act', kind: 'actuator', time: 9, fired: null, triggers: [], ...part }, clock)

const obstacle: Obstacle = { reason: 'state', node: 's', message: 's is Off' }
const trigger: TriggerExplanation = { source: 's', condition: 's is On', blocked: [obstacle], needs: null, ways: [] }

/** A reason without a row here, or without a text in the library, does not compile. */
const SENTENCES: Readonly<Record<Obstacle['reason'], string>> = {
  state: 'Other state since 3 ms: it happened.',
  unknown: 'Unknown since 3 ms: it happened.',
  unchanged: 'No change since 3 ms: it happened.',
  'cool-down': 'Cool-down until 7 ms: it happened.',
  'never executed': 'Not run yet since 3 ms: it happened.',
  error: 'Failed since 3 ms: it happened.',
  overlap: 'Unfinished work since 3 ms: it happened.',
  stopped: 'Task not running since 3 ms: it happened.',
}

describe('a coded reason', () => {
  it.each(Object.entries(SENTENCES) as [Obstacle['reason'], string][])(
    '%s has a sentence and a rule',
    (reason, sentence) => {
      const until = reason === 'cool-down' ? { until: 7 } : {}
      const blocked = [{ reason, node: 's', message: 'it happened', since: 3, ...until }]
      const [found] = text({ triggers: [{ ...trigger, blocked }] }).whyNot[0]?.reasons ?? []
      expect(found).toEqual({ reason, node: 's', ...REASONS[reason], sentence, since: 3, ...until })
      expect(found?.rule).toMatch(/^[A-Z].*\.$/)
    },
  )

  it('has a unique name and rule', () => {
    const all = Object.values(REASONS)
    expect(Object.keys(REASONS)).toEqual(Object.keys(SENTENCES))
    expect(new Set(all.flatMap(({ name, rule }) => [name, rule])).size).toBe(2 * all.length)
  })

  it.each([
    ['invocationPolicy', 'act was held back from s: it is in its cool-down'],
    ['overlap', 'act was held back from s: its earlier work has not ended'],
    ['queue', 'act was held back from s: too many ticks are waiting'],
  ] as const)('%s of a withheld firing has a text', (reason, expected) => {
    expect(heldText({ node: 'act', source: 's', reason })).toBe(expected)
  })
})

describe('the sentence of a sensor', () => {
  it.each([
    [5, 's is On since 5 ms, because r sent a 1.'],
    [4, 's is On since 5 ms, because r sent a 1.'],
    [7, 's is On since 5 ms; at 7 ms, r sent a 1.'],
  ])('names a reading of %i ms as the cause only if the state is not older', (time, sentence) => {
    const input = { kind: 'data' as const, time, resource: 'r', values: { a: 1 } }
    const sensors = [{ node: 's', state: 'On', since: 5, input }]
    const state = { value: 'On', since: 5, sensors, gates: [], blocked: [] }
    expect(text({ node: 's', kind: 'sensor', state }).sentence).toBe(sentence)
  })
})

describe('the sentence of an explanation', () => {
  const since = { since: 5, sensors: [], gates: [], blocked: [] }
  const sensor = (input: object) => ({
    ...since,
    value: 'On',
    sensors: [{ node: 's', state: 'On', since: 5, input: { time: 5, ...input } as Explanation['fired'] & object }],
  })

  it.each<[string, Partial<Explanation>]>([
    ['act has no trigger, so nothing can fire it.', {}],
    ['act has not fired.', { triggers: [trigger] }],
    ['act fired at 8 ms, because gate is TRUE.', { fired: { time: 8, why: hotAndStill } }],
    [
      'g is FALSE since 5 ms, because a is On and b is unknown.',
      {
        node: 'g',
        kind: 'gate',
        state: {
          ...since,
          value: 'FALSE',
          gates: [{ node: 'g', type: 'OR', state: 'FALSE', row: { a: 'On', b: null } }],
        },
      },
    ],
    [
      's is unknown, because s has not run yet.',
      {
        node: 's',
        kind: 'sensor',
        state: {
          value: null,
          sensors: [],
          gates: [],
          blocked: [
            { reason: 'never executed', node: 's', message: 's has not run yet' },
            { ...obstacle, reason: 'stopped' },
          ],
        },
      },
    ],
    ['s is On since 5 ms.', { node: 's', kind: 'sensor', state: { ...since, value: 'On' } }],
  ])('is "%s"', (expected, part) => {
    expect(text(part).sentence).toBe(expected)
  })

  it.each([
    [{ kind: 'data', resource: 'r', values: { t: 93 } }, 'r sent t 93'],
    [{ kind: 'tick' }, 'the task ticked'],
    [{ kind: 'ownTick', node: 's' }, 'its clock ticked'],
    [{ kind: 'push', node: 's' }, 'the state was pushed'],
    [{ kind: 'run', node: 's' }, 'it was run manually'],
    [{ kind: 'start' }, 'the task started'],
  ])('of a sensor after %j states its cause', (input, cause) => {
    const state = sensor(input) as unknown as NonNullable<Explanation['state']>
    expect(text({ node: 's', kind: 'sensor', state }).sentence).toBe(`s is On since 5 ms, because ${cause}.`)
  })

  it('adds the firing of a sensor that a trigger ran', () => {
    const { sentence } = text({
      node: 's',
      kind: 'sensor',
      state: { ...since, value: 'On' },
      fired: { time: 8, why: hotAndStill },
    })
    expect(sentence).toBe('s is On since 5 ms. s fired at 8 ms, because gate is TRUE.')
  })
})

describe('the requirement of a trigger', () => {
  const a = { states: [{ node: 'a', state: 'On' }] }

  it.each<[string, Partial<TriggerExplanation>]>([
    ['It requires a On.', { ways: [a] }],
    [
      'It requires a On, or b On and c Off.',
      {
        ways: [
          a,
          {
            states: [
              { node: 'b', state: 'On' },
              { node: 'c', state: 'Off' },
            ],
          },
        ],
      },
    ],
    ['It requires a On, then a Off.', { ways: [{ ...a, then: [{ node: 'a', state: 'Off' }] }] }],
    ['It requires a On, or one of 4 more ways.', { ways: [a], waysLeftOut: 4 }],
    ['No combination of sensor states leads to this.', {}],
  ])('is "%s"', (expected, part) => {
    expect(text({ triggers: [{ ...trigger, ...part }] }).whyNot).toMatchObject([
      { source: 's', sentence: 'act fires when s is On.', needs: expected },
    ])
  })

  it('is empty when only a cool-down is in the way, and a fired trigger is not listed', () => {
    const { whyNot } = text({
      triggers: [
        { ...trigger, needs: [] },
        { ...trigger, needs: [], blocked: [] },
      ],
    })
    expect(whyNot).toHaveLength(1)
    expect(whyNot[0]).not.toHaveProperty('needs')
  })
})

it('notes inputs that wait and sensors that never run', () => {
  const neverRun = [{ node: 'd', message: 'd never runs: it has no resource' }]
  expect(text({ behind: { since: 2, inputs: 3 }, neverRun }).notes).toEqual([
    'Inputs are processed up to 2 ms; 3 more are waiting.',
    'd never runs: it has no resource.',
  ])
})
