// Holds DRIVER-1, DRIVER-2, DRIVER-3
/** What every driver of models keeps to, with one model of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../src/kernel/json.ts'
import type { ModelDriver, ModelPackage, OpenModel } from '../../../src/services/models/driver.ts'

export interface DriverFacts {
  readonly driver: () => Promise<ModelDriver>
  readonly model: ModelPackage
  /** what the library itself predicts */
  readonly instances: readonly Json[]
  readonly predictions: readonly Json[]
  /** which cannot be opened, and by which codes that is said; default: one with the same files, which nobody can read */
  readonly broken?: ModelPackage
  readonly brokenCodes?: RegExp
  /** instances that are refused, and what is said about it */
  readonly wrong: readonly (readonly [instance: Json, message: RegExp])[]
}

export function driverSuite(name: string, facts: DriverFacts): void {
  const { driver: make, model, instances, predictions, wrong, brokenCodes = /^(VALIDATION|MODEL_FAILED)$/ } = facts
  describe(`the driver ${name}`, () => {
    let driver: ModelDriver
    let open: OpenModel
    beforeAll(async () => {
      driver = await make()
      open = await driver.open(model)
    })
    afterAll(() => driver.close())
    const predict = (rows: readonly Json[]): Promise<readonly Json[]> => {
      return open.call({ operation: 'predict', instances: rows })
    }

    it('takes the model, and none of another framework', async () => {
      expect(await driver.refuses(model)).toBeUndefined()
      const other = { ...model, framework: 'weka', remote: undefined } as unknown as ModelPackage
      expect(await driver.refuses(other)).toMatch(/\w/)
    })

    it('tells what it runs models with', async () => {
      const runtimes = await driver.runtimes()
      expect(runtimes.map(({ framework }) => framework)).toContain(model.framework)
      expect(runtimes.map((one) => one.driver)).toContain(driver.name)
    })

    it('says what the library says, in the order of the instances', async () => {
      expectClose(await predict(instances), predictions)
      expectClose(await predict(instances.toReversed()), predictions.toReversed())
    })

    it('answers calls that come at once as if each were alone', async () => {
      const answers = await Promise.all(instances.map((one) => predict([one])))
      expectClose(answers.flat(), predictions)
    })

    it.each(wrong)('refuses %j, which is its fault, and harms no call beside it', async (instance, message) => {
      const [first = null] = instances
      const [good, refused] = await Promise.allSettled([predict([first]), predict([first, instance])])
      expect(refused).toMatchObject({
        status: 'rejected',
        reason: { code: 'VALIDATION', message: expect.stringMatching(message) as string },
      })
      expect(good.status === 'fulfilled' && good.value).toHaveLength(1)
    })

    it('refuses a model that it cannot open, and harms no other', async () => {
      const broken = driver.open(facts.broken ?? brokenOf(model))
      await expect(broken).rejects.toMatchObject({ code: expect.stringMatching(brokenCodes) as string })
      expect(await predict(instances.slice(0, 1))).toHaveLength(1)
    })
  })
}

function brokenOf(model: ModelPackage): ModelPackage {
  if (model.remote !== undefined) return model
  const files = new Map([...model.files].map(([path]) => [path, new TextEncoder().encode('no model')]))
  return { ...model, digest: 'broken', files }
}

/** Equal to 32 bits, whatever the shape. */
function expectClose(found: readonly Json[], wanted: readonly Json[]): void {
  const [left, right] = [found, wanted].map((one) => (one as readonly number[]).flat(9))
  expect(left).toHaveLength(right?.length ?? -1)
  left?.forEach((value, at) => {
    const other = right?.[at] ?? Number.NaN
    expect(Math.abs(value - other), `${value} for ${other}`).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(other)))
  })
}
