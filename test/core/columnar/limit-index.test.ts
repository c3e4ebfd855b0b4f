import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { BatchShape } from '../../../src/core/columnar/batch-shape.ts'
import { limitIndex, LimitIndex, MIN_INDEXED, wordsFor } from '../../../src/core/columnar/limit-index.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { createEngine, definePlug, VirtualClock, type Message } from '../../../src/index.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const PARAMETERS = ['a', 'b']
const level = fc.oneof(fc.integer({ min: -3, max: 30 }), fc.constantFrom(-0, 0.5, 1e300, -1e300, 1.7e308, -1.7e308))

const cases = fc
  .record({
    rows: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 1200 })),
    sensors: fc.array(
      fc.record({
        parameter: fc.constantFrom(...PARAMETERS),
        allowed: fc.constantFrom(1, 3, 4, 6, 7),
        seed: fc.array(level, { minLength: 1, maxLength: 9 }),
        apart: fc.constantFrom(0, 0.01),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    isNegated: fc.boolean(),
    messages: fc.array(fc.tuple(level, level), { minLength: 1, maxLength: 8 }),
  })
  .map(({ rows, sensors, ...rest }) => {
    const limits = sensors.map(({ seed, apart }) =>
      Array.from({ length: rows }, (_, i) => (seed[(i * i) % seed.length] ?? 0) + i * apart),
    )
    return { rows, sensors, limits, ...rest }
  })

function rangeOf(value: number, limit: number): number {
  return value < limit ? 1 : value === limit ? 2 : 4
}

describe('an index of limits', () => {
  it('finds the rows that fire, in their order', () => {
    fc.assert(
      fc.property(cases, ({ rows, sensors, limits, isNegated, messages }) => {
        const shape = {
          sensors: sensors.map(({ parameter }, constant) => ({ steps: { parameter, constant, cuts: 1, states: [] } })),
        }
        const allowed = sensors.map((sensor) => sensor.allowed)
        const index = limitIndex(shape as unknown as BatchShape, { allowed, isNegated }, PARAMETERS, limits, rows)
        const first = 2
        const sets = new Int32Array(first + wordsFor(rows) + 1)
        const firing = sets.subarray(first, -1)
        for (const values of messages) {
          const expected = Array.from({ length: rows }, (_, row) => row).filter((row) => {
            const areAll = sensors.every(({ parameter, allowed: ranges }, s) => {
              return (rangeOf(values[PARAMETERS.indexOf(parameter)] ?? 0, limits[s]?.[row] ?? 0) & ranges) !== 0
            })
            return areAll !== isNegated
          })
          index?.find(sets, first, new Float64Array([0, ...values]), 1)
          const found = [...firing].flatMap((word, w) =>
            Array.from({ length: 32 }, (_, bit) => ((word >>> bit) & 1 ? [w * 32 + bit] : [])).flat(),
          )
          expect(found).toEqual(expected)
          expect([sets[0], sets[1], sets.at(-1)]).toEqual([0, 0, 0])
        }
      }),
      runs(300),
    )
  })

  it.each([
    ['with two limits', 2, 1],
    ['that fires at its limit alone', 1, 2],
    ['that fires at all but its limit', 1, 5],
    ['that never fires', 1, 0],
  ])('does not exist for a sensor %s', (_, cuts, ranges) => {
    const shape = { sensors: [{ steps: { parameter: 'a', constant: 0, cuts, states: [] } }] }
    const condition = { allowed: [ranges], isNegated: false }
    expect(limitIndex(shape as unknown as BatchShape, condition, ['a'], [[1], [2]], 1)).toBeUndefined()
  })
})

// Holds VECTOR-1, VECTOR-2
describe('many rows whose limits are sorted', () => {
  const RULES = MIN_INDEXED + 13

  function ruleOf(i: number): Rule {
    return {
      sensors: [
        {
          label: 'warm',
          resource: 'r',
          name: 'streamingDataSensor',
          properties: { parameter: 'a', threshold: (i * 7) % 50 },
        },
        { label: 'damp', resource: 'r', name: 'condition', properties: { condition: `b >= ${(i * 11) % 30}` } },
      ],
      relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'True']] }],
      actuators: [{ label: 'act', name: i % 3 === 0 ? 'other' : 'act', properties: { i } }],
      triggers: [{ sourceLabel: 'both', destinationLabel: 'act', statesTrigger: ['TRUE'] }],
    }
  }

  async function played(listens: boolean, messages: readonly Message[], hears = false): Promise<readonly unknown[]> {
    const clock = new VirtualClock(1000)
    const calls: unknown[] = []
    const plug = { version: '1.0.0', kind: 'actuator', input: { i: { type: 'integer' } } } as const
    const act = definePlug({
      ...plug,
      name: 'act',
      execute({ properties: { i }, now }) {
        calls.push([i, now])
        return i === 4 ? { message: `at ${now}` } : undefined
      },
    })
    const other = definePlug({
      ...plug,
      name: 'other',
      execute(context) {
        calls.push([context.properties.i, context.now])
        if (context.streamValue('who') === context.properties.i) calls.push(engine.tasks.get('t60')?.save())
      },
    })
    const engine = createEngine({ plugs: [...builtins, act, other], scheduler: clock, seed: 1 })
    if (listens) engine.events$.subscribe(() => undefined)
    if (hears) engine.fired$.subscribe((event) => calls.push(JSON.stringify(event)))
    for (let i = 0; i < RULES; i++) await engine.start(ruleOf(i), { id: `t${i}` })
    for (const message of messages) {
      clock.advanceTo(clock.now() + 5)
      engine.receive(message)
    }
    const states = [...engine.tasks.values()].map((task) => task.save())
    const { counts } = engine as unknown as { counts: unknown }
    await engine.close()
    return [...calls, ...states, counts]
  }

  const send = (count: number, who = -1) =>
    Array.from({ length: count }, (_, i): Message => ({ resource: 'r', a: (i * 13) % 53, b: (i * 5) % 31, who }))

  /** A text is compared in a blink; only what differs is compared for the reader. */
  const expectSame = (one: unknown, other: unknown) => {
    if (JSON.stringify(one) !== JSON.stringify(other)) expect(one).toEqual(other)
  }

  it('do the same as separate rows, for more messages than are kept, and when read during a call', async () => {
    const find = vi.spyOn(LimitIndex.prototype, 'find')
    const messages = [...send(600), ...send(9, 30), ...send(90)]
    const quiet = await played(false, messages)
    expect(find.mock.calls.length).toBeGreaterThan(600)
    find.mockRestore()
    expectSame(quiet, await played(true, messages))
  })

  it('continue with what earlier messages had when more messages are kept', async () => {
    // Of each three messages one has both values, one the first, one the second.
    const messages = send(600).map(({ a, b, ...rest }, i): Message => {
      return { ...rest, ...(i % 3 !== 2 && { a }), ...(i % 3 !== 1 && { b }) }
    })
    expectSame(await played(false, messages), await played(true, messages))
  })

  it('report firings and their whys like separate rows', async () => {
    const messages = send(100)
    expectSame(await played(false, messages, true), await played(true, messages, true))
  })
})
