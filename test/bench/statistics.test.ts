/** Tests verdicts about speed on synthetic samples: none for equal code, and real differences are detected. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareAll, estimate, failsBy, FEWEST_ROUNDS, type Compared } from '../../src/bench/statistics.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'

/** A machine whose speed wanders from round to round, and jitters from sample to sample; sometimes a sample is far off. */
class Machine {
  #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  random(): number {
    this.#seed = nextSeed(this.#seed)
    return randomOf(this.#seed)
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random())
  }

  #noise(jitter: number): number {
    const outlier = this.random() < 0.03 ? 1 + this.random() : 1
    return Math.exp(this.#normal() * jitter) * outlier
  }

  /** `slower`: factor by which the second one costs more */
  compared(rounds: number, { slower = 0, paired = true, jitter = 0.03 } = {}): Compared {
    const before: number[] = []
    const after: number[] = []
    for (let i = 0; i < rounds; i++) {
      const minute = paired ? Math.exp(this.#normal() * 0.2) : 1
      before.push(50 * minute * this.#noise(jitter))
      after.push(50 * (1 + slower) * minute * this.#noise(jitter))
    }
    return { before, after, paired }
  }
}

const TRIALS = 1000
const verdictsOf = (machine: Machine, lines: number, rounds: number, options = {}) =>
  compareAll(Array.from({ length: lines }, () => machine.compared(rounds, options)))

describe('equal code', () => {
  // Holds STATISTICS-1
  it.each([
    { lines: 1, rounds: 6, paired: true },
    { lines: 8, rounds: 6, paired: true },
    { lines: 8, rounds: 12, paired: true },
    { lines: 4, rounds: 6, paired: false },
  ])(
    'gets no verdict in 95 of 100 runs of $lines lines, $rounds rounds, paired: $paired',
    ({ lines, rounds, paired }) => {
      const machine = new Machine(lines * 1000 + rounds)
      let clean = 0
      for (let i = 0; i < TRIALS; i++) {
        const all = verdictsOf(machine, lines, rounds, { paired })
        if (all.every(({ verdict }) => verdict === 'no difference')) clean++
      }
      expect(clean).toBeGreaterThanOrEqual(0.95 * TRIALS)
    },
  )

  it('gets no verdict when all samples are equal', () => {
    const same = { before: [3, 3, 3, 3, 3, 3], after: [3, 3, 3, 3, 3, 3] }
    const all = compareAll([true, false].map((paired) => ({ ...same, paired })))
    expect(all.map(({ verdict }) => verdict)).toEqual(['no difference', 'no difference'])
  })
})

describe('a difference of 10 %', () => {
  it.each([
    { slower: 0.1, verdict: 'worse' },
    { slower: -0.1, verdict: 'better' },
  ])('is detected: $verdict', ({ slower, verdict }) => {
    const machine = new Machine(7)
    let found = 0
    for (let i = 0; i < TRIALS; i++) {
      const [changed] = compareAll([
        machine.compared(10, { slower, jitter: 0.02 }),
        machine.compared(10),
        machine.compared(10),
      ])
      if (changed?.verdict === verdict) found++
    }
    // One sample in thirty is far off, which hides it now and then.
    expect(found).toBeGreaterThan(0.6 * TRIALS)
  })

  it('is detected in all runs of a quiet machine', () => {
    const quiet = (i: number) => 50 * (1 + ((i * 7) % 5) / 400)
    const before = Array.from({ length: FEWEST_ROUNDS }, (_, i) => quiet(i))
    const after = before.map((_, i) => quiet(i + 2) * 1.1)
    const [pairs, lists] = compareAll([true, false].map((paired) => ({ before, after, paired })))
    expect([pairs?.verdict, lists?.verdict]).toEqual(['worse', 'worse'])
    expect(pairs?.ratio.value).toBeCloseTo(1 / 1.1, 2)
  })
})

describe('few rounds', () => {
  // Holds STATISTICS-2
  it.each([1, 2, 5])('%i: get no verdict, however far apart', (rounds) => {
    const before = Array.from({ length: rounds }, (_, i) => 10 + i / 100)
    const [one] = compareAll([{ before, after: before.map((value) => value * 9), paired: true }])
    expect(one?.verdict).toBe('too few rounds')
  })
})

describe('a gate', () => {
  const compared = (factor: number) => {
    const before = [10, 10.1, 9.9, 10, 10.05, 9.95]
    const [one] = compareAll([
      { before, after: before.map((value, i) => value * factor * (1 + (i % 2) / 500)), paired: true },
    ])
    return one as NonNullable<typeof one>
  }

  it.each([
    ['much slower', 1.2, true],
    ['slower by less than is allowed', 1.03, false],
    ['as fast', 1.0, false],
    ['faster', 0.8, false],
  ])('when %s fails: %s', (_, factor, fails) => {
    expect(failsBy(compared(factor), 0.05)).toBe(fails)
  })
})

describe('many lines', () => {
  it('require a smaller chance each', () => {
    const before = [10, 10.1, 9.9, 10, 10.05, 9.95]
    const after = [10.3, 10.2, 10.1, 10.2, 10.3, 10.05]
    const [alone] = compareAll([{ before, after, paired: true }])
    const [among] = compareAll([
      { before, after, paired: true },
      ...Array.from({ length: 19 }, () => new Machine(3).compared(6)),
    ])
    expect(among?.p).toBeCloseTo((alone?.p ?? 0) * 20, 6)
  })
})

describe('an interval', () => {
  const positive = fc.double({ min: 0.001, max: 1e6, noNaN: true })

  it('contains its value, and excludes the values outside', () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1, maxLength: 20 }), (values) => {
        const { value, low, high } = estimate(values)
        const slack = 1 + 1e-9
        expect(low).toBeLessThanOrEqual(value * slack)
        expect(high * slack).toBeGreaterThanOrEqual(value)
        expect(low * slack).toBeGreaterThanOrEqual(Math.min(...values))
        expect(high).toBeLessThanOrEqual(Math.max(...values) * slack)
      }),
    )
  })

  it('scales with the unit, and with nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(positive, { minLength: 2, maxLength: 12 }),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (values, unit) => {
          const one = estimate(values)
          const other = estimate(values.map((value) => value * unit))
          for (const key of ['value', 'low', 'high'] as const) expect(other[key] / (one[key] * unit)).toBeCloseTo(1, 6)
        },
      ),
    )
  })

  it('is inverted when the compared sides are swapped', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(positive, positive), { minLength: 2, maxLength: 12 }),
        fc.boolean(),
        (pairs, paired) => {
          const [before, after] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)]
          const [there] = compareAll([{ before, after, paired }])
          const [back] = compareAll([{ before: after, after: before, paired }])
          expect((there?.ratio.low ?? 0) * (back?.ratio.high ?? 0)).toBeCloseTo(1, 6)
          expect(there?.p).toBeCloseTo(back?.p ?? -1, 9)
        },
      ),
    )
  })

  it.each([6, 10])('contains the true value in about 95 of 100 runs of %i rounds', (rounds) => {
    const machine = new Machine(rounds)
    let inside = 0
    for (let i = 0; i < TRIALS; i++) {
      const values = Array.from({ length: rounds }, () =>
        Math.exp((machine.random() + machine.random() + machine.random() - 1.5) / 10),
      )
      const { low, high } = estimate(values)
      if (low <= 1 && high >= 1) inside++
    }
    expect(inside / TRIALS).toBeGreaterThan(0.91)
  })

  it.each([
    [2, 12.706],
    [6, 2.571],
    [31, 2.042],
  ])("of %i pairs matches Student's table: %f", (rounds, quantile) => {
    const after = Array.from({ length: rounds }, (_, i) => Math.exp(i % 2 === 0 ? 1 : -1))
    const [one] = compareAll([{ before: after.map(() => 1), after, paired: true }])
    const logs = after.map((value) => -Math.log(value))
    const mean = logs.reduce((a, b) => a + b, 0) / rounds
    const error = Math.sqrt(logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (rounds - 1) / rounds)
    expect((Math.log(one?.ratio.high ?? 0) - mean) / error).toBeCloseTo(quantile, 2)
  })
})
