import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dice } from '../../plugins/dice/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('dice', () => {
  it.each([
    [0, 'ONE', 1],
    [0.17, 'TWO', 2],
    [0.34, 'THREE', 3],
    [0.5, 'FOUR', 4],
    [0.67, 'FIVE', 5],
    [0.84, 'SIX', 6],
    [1 - Number.EPSILON, 'SIX', 6],
  ])('with the random number %d shows %s', (random, state, randomValue) => {
    expect(runPlug(dice, { random: [random] })).toMatchObject({ state, rawData: { randomValue } })
  })

  it('returns the face that its raw data states, for any random number', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
        const { state, rawData } = runPlug(dice, { random: [random] })
        expect(dice.states[Number(rawData?.['randomValue']) - 1]).toBe(state)
      }),
    )
  })
})
