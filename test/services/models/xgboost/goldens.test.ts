/** The booster evaluator says what the library says: recorded by XGBoost 1.7.6 and 3.2.0, in all forms that they save. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { xgboostDriver } from '../../../../src/services/models/xgboost/xgboost-driver.ts'

interface Case {
  readonly name: string
  readonly rows: readonly Json[]
  readonly predictions: readonly (number | readonly number[])[]
  readonly json?: object
  readonly ubj?: string
  readonly binary?: string
}

const driver = xgboostDriver({ breathe: () => Promise.resolve() })

const CASES = ['1.7.6', '3.2.0'].flatMap((library) => {
  const place = new URL(`../../../../fixtures/models/boosters/golden-${library}.json`, import.meta.url)
  const { cases } = JSON.parse(readFileSync(place, 'utf8')) as { readonly cases: readonly Case[] }
  return cases.flatMap((one) =>
    (['json', 'ubj', 'binary'] as const).flatMap((form) => {
      const saved = one[form]
      if (saved === undefined) return []
      const bytes = typeof saved === 'string' ? Buffer.from(saved, 'base64') : Buffer.from(JSON.stringify(saved))
      return [[library, one.name, form, new Uint8Array(bytes), one] as const]
    }),
  )
})

describe('a booster', () => {
  it.each(CASES)('of XGBoost %s, %s, saved as %s', async (_library, _name, _form, bytes, { rows, predictions }) => {
    const files = new Map([['model.bst', bytes]])
    const model = await driver.open({ tenant: 't', name: 'm', framework: 'xgboost', digest: 'd', files })
    const values = await model.call({ operation: 'predict', instances: rows })
    expect(values).toHaveLength(predictions.length)
    values.flat().forEach((value, at) => {
      const wanted = predictions.flat()[at] ?? Number.NaN
      // some units in the last place of 32 bits: the library adds in another order
      expect(
        Math.abs(Number(value) - wanted),
        `value ${at}: ${JSON.stringify(value)} for ${wanted}`,
      ).toBeLessThanOrEqual(4 * 2 ** -23 * Math.max(1, Math.abs(wanted)))
    })
  })

  it('was recorded for every objective and form', () => expect(CASES).toHaveLength(17 * 4 + 2 * 3))
})
