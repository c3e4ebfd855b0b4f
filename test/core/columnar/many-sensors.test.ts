/** Rules of many sensors, by rows and plainly beside each other. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEngine, definePlug, VirtualClock, type Message, type Rule } from '../../../src/index.ts'
import { builtins } from '../../../plugins/index.ts'
import { numbersToCheck, sourceOf } from '../../../src/core/columnar/formula-code.ts'
import type { RowFormula } from '../../../src/core/columnar/sensor-formula.ts'

const SENSORS = 9

/** Each has a limit of its own; the actuator fires when three are above, and when that ends. */
const rule: Rule = {
  sensors: Array.from({ length: SENSORS }, (_, i) => ({
    label: `s${i}`,
    resource: 'r',
    name: 'streamingDataSensor',
    properties: { parameter: i % 2 === 0 ? 'a' : 'b', threshold: i },
  })),
  relations: [
    {
      label: 'three',
      type: 'AND',
      parentLabels: ['s0', 's5', 's8'],
      combinations: [['Above', 'Above', 'Above']],
    },
  ],
  actuators: [{ label: 'acts', name: 'act' }],
  triggers: [{ sourceLabel: 'three', destinationLabel: 'acts', stateChangeTrigger: { stateFrom: '*', stateTo: '*' } }],
}

const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })

/** What fired with its why, and in the end since when each node has its state. */
async function run(messages: readonly Omit<Message, 'resource'>[], isPlain: boolean) {
  const clock = new VirtualClock(0)
  const engine = createEngine({
    plugs: [...builtins, act],
    scheduler: clock,
    ids: () => 't',
    ...(isPlain && { latency: () => 0 }),
  })
  await engine.start(rule)
  const fired: unknown[] = []
  engine.eventBatches({ types: ['fired'] }).subscribe((batch) => fired.push(...batch))
  for (const [i, message] of messages.entries()) {
    clock.advanceTo(1000 * (i + 1))
    engine.receive({ resource: 'r', ...message })
  }
  const took = engine.stats()
  const said = engine.explain('t', 'acts')
  await engine.close()
  return { fired, said, inRows: took.rows }
}

test('rows know the beginning of the state of each sensor, even without changes', async () => {
  const value = fc.constantFrom(-1, 4, 4, 20, 20, 20)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ a: value, b: value }), { minLength: 3, maxLength: 20 }), async (messages) => {
      const rows = await run(messages, false)
      const plain = await run(messages, true)
      expect(rows.inRows).toBeGreaterThan(0)
      expect(plain.inRows).toBe(0)
      expect(rows.fired).toEqual(plain.fired)
      expect(rows.said).toEqual(plain.said)
    }),
    { numRuns: 30 },
  )
})

/** Of numbers before a place, of values and of constants. */
const formula = (place: number): fc.Arbitrary<RowFormula> => {
  const leaf = fc.oneof(
    fc.constantFrom('a', 'b').map((parameter) => ({ parameter })),
    fc.nat(1).map((constant) => ({ constant })),
    ...(place === 0 ? [] : [fc.nat(place - 1).map((number) => ({ number }))]),
  )
  const op = fc.constantFrom('+', '-', '*', '/', '%', 'negative', 'abs', 'min', 'max', 'sqrt', 'sign')
  const inner = fc.record({ op, of: fc.tuple(leaf, leaf) })
  return fc
    .record({ op, of: fc.tuple(fc.oneof(leaf, inner as fc.Arbitrary<RowFormula>), leaf) })
    .map(({ op: own, of }) => ({ op: own, of: own.length > 3 || own === 'abs' ? of.slice(0, 1) : of }))
}

test('when the numbers that are checked are finite, all are', () => {
  const value = fc.constantFrom(0, -0, 1, -2, 0.5, 1e200, -1e200, 1e308, Number.NaN, Number.POSITIVE_INFINITY)
  const names = {
    parameter: (name: string) => name,
    constant: (place: number) => `c${place}`,
    number: (place: number) => `n${place}`,
  }
  fc.assert(
    fc.property(
      fc.tuple(...[0, 1, 2, 3, 4].map(formula)),
      fc.tuple(value, value, value, value),
      (all, [a, b, c0, c1]) => {
        const lines = all.map((one, n) => `const n${n} = ${sourceOf(one, names)}`)
        const places = all.map((_, n) => `n${n}`).join(', ')
        // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- as rows are made
        const worked = new Function('a', 'b', 'c0', 'c1', `${lines.join('\n')}\nreturn [${places}]`) as (
          ...given: number[]
        ) => number[]
        const numbers = worked(a, b, c0, c1)
        const areFinite = numbersToCheck(all).every((place) => Number.isFinite(numbers[place]))
        expect(numbers.every((one) => Number.isFinite(one))).toBe(areFinite)
      },
    ),
    { numRuns: 2000 },
  )
})

test('only the last number of a chain is checked', () => {
  const next = (number: number): RowFormula => ({
    op: '+',
    of: [{ op: '*', of: [{ number }, { constant: 0 }] }, { constant: 1 }],
  })
  expect(numbersToCheck([{ parameter: 'a' }, next(0), next(1)])).toEqual([2])
})
