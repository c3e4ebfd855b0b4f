import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { numberOfText } from '../../src/kernel/values.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { runPlug } from '../support/plug-context.ts'

/** Properties with which a plug declares steps. */
const COMPARING: Readonly<Record<string, readonly ((limit: number) => Record<string, unknown>)[]>> = {
  streamingDataSensor: [(threshold) => ({ parameter: 'a', threshold })],
  condition: [
    ...['a > ', 'a >= ', 'a < ', 'a <= ', 'a == ', 'a != '].map((left) => (limit: number) => ({
      condition: left + limit,
    })),
    (limit) => ({ condition: `${limit} < streamdata.a` }),
    (limit) => ({ condition: { '>=': [limit, { var: 'a' }] } }),
  ],
}

/** Numbers that a message can contain: larger ones are unknown. */
const exact = fc.oneof(
  fc.double({ noNaN: true, min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, Number.MIN_VALUE, Number.MAX_SAFE_INTEGER, Number.EPSILON),
)

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, Number.MIN_VALUE, Number.MAX_VALUE, Number.EPSILON),
)

/** The state of a comparison declared as steps. */
function stateBySteps(plug: Plug, properties: Record<string, unknown>, value: number): string | undefined {
  const steps = plug.steps?.(properties)
  if (steps === undefined) return undefined
  let place = 0
  for (const cut of steps.cuts) {
    if (value < cut) break
    place += value === cut ? 1 : 2
    if (value === cut) break
  }
  return steps.states[place]
}

describe('a comparison declared as steps', () => {
  const comparing = builtins.filter((plug) => plug.steps !== undefined)

  it('belongs to a plug that this test covers', () => {
    expect(comparing.map(({ name }) => name)).toEqual(Object.keys(COMPARING))
  })

  it.each(comparing)('decides every number as a call of $name does', (plug) => {
    fc.assert(
      fc.property(fc.constantFrom(...(COMPARING[plug.name] ?? [])), number, exact, (make, limit, value) => {
        const properties = make(limit)
        const called = runPlug(plug, { properties, message: { a: value } })
        expect(stateBySteps(plug, properties, value)).toBe(called.state)
      }),
      runs(500),
    )
  })

  it.each(comparing)(
    'decides values that are not numbers as a call of $name does, or leaves them to the call',
    (plug) => {
      const other = fc.oneof(
        fc.constantFrom(
          null,
          Number.NaN,
          Number.POSITIVE_INFINITY,
          true,
          false,
          '',
          ' 12.5 ',
          '-3',
          '0123',
          '1e3',
          '0x1f',
          'warm',
          2 ** 53,
        ),
        fc.constantFrom<unknown>([1], { a: 1 }),
        fc.string({ maxLength: 4 }),
      )
      fc.assert(
        fc.property(fc.constantFrom(...(COMPARING[plug.name] ?? [])), number, other, (make, limit, value) => {
          const properties = make(limit)
          const steps = plug.steps?.(properties)
          if (steps?.reads === undefined) return
          const counted = typeof value === 'boolean' ? Number(value) : numberOfText(value)
          const call = () => runPlug(plug, { properties, message: { a: value } }).state
          if (counted === undefined) expect(call).toThrow('must be a number')
          else expect(call()).toBe(stateBySteps(plug, properties, counted))
        }),
        runs(200),
      )
    },
  )

  it('is absent for a threshold in the message', () => {
    const plug = comparing.find(({ name }) => name === 'streamingDataSensor')
    expect(plug?.steps?.({ parameter: 'a', threshold: 'limit' })).toBeUndefined()
    expect(plug?.steps?.({ parameter: 'a', threshold: '12.5' })).toMatchObject({ cuts: [12.5] })
  })
})

describe('a calculation declared as steps', () => {
  it('belongs to plugs that the properties of rows cover (test/properties/columnar.test.ts, vectorized.test.ts)', () => {
    const calculating = builtins.filter(({ calculates }) => calculates !== undefined).map(({ name }) => name)
    expect(calculating.toSorted()).toEqual(['condition', 'inRange', 'streamingRangeSensor', 'transformer'])
  })
})
