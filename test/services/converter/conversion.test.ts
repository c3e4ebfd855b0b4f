import { describe, expect, it } from 'vitest'
import { Conversions } from '../../../src/services/converter/conversion.ts'

const template = '{"metrics": [#foreach($i in $payload)#if($foreach.index == 0)$i#end#end]}'
const SMALL = [1]
const LARGE = Array.from({ length: 30_000 }, () => 1)

/** Whether a conversion was left to another thread. */
const isLeft = (conversions: Conversions, payload: readonly number[]): boolean => {
  try {
    return conversions.convertSmall({ template }, { payload }) === undefined
  } catch {
    // The template was rendered here: its number is not a valid metric.
    return false
  }
}

describe('a conversion on the main thread', () => {
  it('moves to worker threads after its template took too long once, and is tried again later', () => {
    const conversions = new Conversions(() => 0)
    expect(isLeft(conversions, SMALL)).toBe(false)
    expect(isLeft(conversions, LARGE)).toBe(true)
    expect(Array.from({ length: 15 }, () => isLeft(conversions, SMALL))).toEqual(Array.from({ length: 15 }, () => true))
    expect(isLeft(conversions, SMALL)).toBe(false)
  })
})
