/**
 * Tests the driver that evaluates boosters itself: it follows the rules of all drivers, and predicts what the library
 * predicts.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { xgboostDriver } from '../../../../src/services/models/xgboost/xgboost-driver.ts'
import { driverSuite } from '../../../contracts/models/driver-suite.ts'
import { refusal } from '../test-driver.ts'

interface Case {
  readonly name: string
  readonly rows: readonly Json[]
  readonly predictions: readonly (number | readonly number[])[]
  readonly json?: object
  readonly ubj?: string
  readonly binary?: string
}

/** Recorded by the library in each format that it saves. */
const RECORDED = ['1.7.6', '3.2.0'].map((library) => {
  const place = new URL(`../../../../fixtures/models/boosters/golden-${library}.json`, import.meta.url)
  return [library, (JSON.parse(readFileSync(place, 'utf8')) as { readonly cases: readonly Case[] }).cases] as const
})
const driverOf = (breathe = () => Promise.resolve()) => xgboostDriver({ breathe })
const packageOf = (bytes: Uint8Array) => {
  const files = new Map([['model.bst', bytes]])
  return { tenant: 'acme', name: 'm', framework: 'xgboost' as const, digest: 'd', files }
}
const packageOfJson = (document: unknown) => packageOf(new TextEncoder().encode(JSON.stringify(document)))
const golden = RECORDED[1]?.[1].find(({ name }) => name === 'probabilities of classes') ?? expect.fail('not recorded')

const CASES = RECORDED.flatMap(([library, cases]) =>
  cases.flatMap((one) =>
    (['json', 'ubj', 'binary'] as const).flatMap((form) => {
      const saved = one[form]
      if (saved === undefined) return []
      const bytes = typeof saved === 'string' ? Buffer.from(saved, 'base64') : Buffer.from(JSON.stringify(saved))
      return [[library, one.name, form, new Uint8Array(bytes), one] as const]
    }),
  ),
)

describe('a booster', () => {
  it.each(CASES)('of XGBoost %s, %s, saved as %s', async (_library, _name, _form, bytes, { rows, predictions }) => {
    const model = await driverOf().open(packageOf(bytes))
    const values = await model.call({ operation: 'predict', instances: rows })
    expect(values).toHaveLength(predictions.length)
    values.flat().forEach((value, at) => {
      const wanted = predictions.flat()[at] ?? Number.NaN
      // differs in the last digits of 32-bit floats, since the library adds in another order
      expect(
        Math.abs(Number(value) - wanted),
        `value ${at}: ${JSON.stringify(value)} for ${wanted}`,
      ).toBeLessThanOrEqual(4 * 2 ** -23 * Math.max(1, Math.abs(wanted)))
    })
  })

  it('has recordings of every objective and format', () => expect(CASES).toHaveLength(17 * 4 + 2 * 3))
})

driverSuite('xgboost', {
  driver: () => Promise.resolve(driverOf()),
  model: packageOfJson(golden.json),
  instances: golden.rows,
  predictions: golden.predictions,
  wrong: [
    [[1, 2], /\/instances\/1 <- has 2 values \(send 4/],
    [[1, 2, 3, 'x'], /\/instances\/1\/3 <- is "x"/],
    [{ e: 1 }, /\/instances\/1\/e <- is not a feature of the model \(it has a, b, c, d\)/],
    [{ a: 1, b: null, d: 2 }, /\/instances\/1 <- has no c \(send null for a missing value/],
    [7, /\/instances\/1 <- is 7/],
  ],
})

it.each([
  [0, /best_iteration is 0, .* use all rounds, .*save booster\[:1\]/],
  [1_000, undefined],
])('warns of early stopping at round %i if more rounds follow', async (best, warning) => {
  const { learner, ...rest } = golden.json as { learner: object }
  const stopped = { ...rest, learner: { ...learner, attributes: { best_iteration: String(best) } } }
  const model = await driverOf().open(packageOfJson(stopped))
  expect(model.warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)])
})

it('yields to other work during a long call', async () => {
  let turns = 0
  const model = await driverOf(() => Promise.resolve(void turns++)).open(packageOfJson(golden.json))
  await model.call({ operation: 'predict', instances: Array.from({ length: 50_000 }, () => [1, 2, 3, 4]) })
  expect(turns).toBeGreaterThan(3)
})

it('rejects a leaf that is not a number, since JSON cannot express the result', async () => {
  const text = JSON.stringify(golden.json).replaceAll(/"split_conditions":\[[^\]]*\]/g, (list) =>
    list.replaceAll(/-?\d[\d.E+-]*/g, '1e39'),
  )
  const model = await driverOf().open(packageOfJson(JSON.parse(text)))
  await expect(model.call({ operation: 'predict', instances: [[1, 2, 3, 4]] })).rejects.toMatchObject(
    refusal('MODEL_FAILED', /for instance 0, which is not a number/),
  )
})
