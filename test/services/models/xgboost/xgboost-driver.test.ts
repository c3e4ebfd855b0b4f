/** The driver that evaluates boosters itself keeps to what every driver keeps to. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { xgboostDriver } from '../../../../src/services/models/xgboost/xgboost-driver.ts'
import { driverSuite } from '../../../contracts/models/driver-suite.ts'

interface Case {
  readonly name: string
  readonly rows: readonly Json[]
  readonly predictions: readonly Json[]
  readonly json: object
}
const place = new URL('../../../../fixtures/models/boosters/golden-3.2.0.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(place, 'utf8')) as { readonly cases: readonly Case[] }
const golden = cases.find(({ name }) => name === 'probabilities of classes') ?? expect.fail('it is not recorded')
const packageOf = (document: object) => ({
  tenant: 'acme',
  name: 'm',
  framework: 'xgboost' as const,
  digest: 'd',
  files: new Map([['model.bst', new TextEncoder().encode(JSON.stringify(document))]]),
})

driverSuite('xgboost', {
  driver: () => Promise.resolve(xgboostDriver({ breathe: () => Promise.resolve() })),
  model: packageOf(golden.json),
  instances: golden.rows,
  predictions: golden.predictions,
  wrong: [
    [[1, 2], /\/instances\/1 <- has 2 values \(send 4/],
    [[1, 2, 3, 'x'], /\/instances\/1\/3 <- is "x"/],
    [{ e: 1 }, /\/instances\/1\/e <- is not a feature of the model \(it has a, b, c, d\)/],
    [{ a: 1, b: null, d: 2 }, /\/instances\/1 <- has no c \(send null where a value is missing/],
    [7, /\/instances\/1 <- is 7/],
  ],
})

it.each([
  [0, /best_iteration is 0, .* use all rounds, .*save booster\[:1\]/],
  [1_000, undefined],
])('warns of early stopping at round %i where rounds follow', async (best, warning) => {
  const { learner, ...rest } = golden.json as { learner: object }
  const stopped = { ...rest, learner: { ...learner, attributes: { best_iteration: String(best) } } }
  const model = await xgboostDriver({ breathe: () => Promise.resolve() }).open(packageOf(stopped))
  expect(model.warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)])
})

it('gives others their turn in a long call', async () => {
  let turns = 0
  const driver = xgboostDriver({ breathe: () => Promise.resolve(void turns++) })
  const model = await driver.open(packageOf(golden.json))
  await model.call({ operation: 'predict', instances: Array.from({ length: 50_000 }, () => [1, 2, 3, 4]) })
  expect(turns).toBeGreaterThan(3)
})

it('says so when a leaf is no number, in place of an answer that JSON cannot carry', async () => {
  const text = JSON.stringify(golden.json).replaceAll(/"split_conditions":\[[^\]]*\]/g, (list) =>
    list.replaceAll(/-?\d[\d.E+-]*/g, '1e39'),
  )
  const model = await xgboostDriver({ breathe: () => Promise.resolve() }).open(packageOf(JSON.parse(text) as object))
  await expect(model.call({ operation: 'predict', instances: [[1, 2, 3, 4]] })).rejects.toMatchObject({
    code: 'MODEL_FAILED',
    message: expect.stringMatching(/for instance 0, which is not a number/) as string,
  })
})
