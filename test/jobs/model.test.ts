/** Tests that jobs in a store match the model after each step, for random trees and random ends. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../support/arbitraries/runs.ts'
import { Pair, steps } from './support/job-pair.ts'

describe('jobs in a store', () => {
  it('match the model after every step', () =>
    fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (all) => {
        const pair = new Pair()
        for (const one of all) {
          await pair.do(one)
          expect(await pair.stored()).toEqual(pair.modelled())
        }
        expect(await pair.told()).toEqual(new Map(pair.model.jobs.map(({ id, state }) => [id, state])))
      }),
      runs(200),
    ))
})
