/** Generates numbers as a device measures them. */
import fc from 'fast-check'

/** Generates numbers from `min` to `max`, in tenths unless `digits` differs. The limits themselves are frequent. */
export function readings(min: number, max: number, digits = 1): fc.Arbitrary<number> {
  const scale = 10 ** digits
  const [low, high] = [Math.ceil(min * scale), Math.floor(max * scale)]
  // The inverse mapping lets fast-check recognize constants of a rule as possible values.
  const inside = fc.integer({ min: low, max: high }).map(
    (n) => n / scale,
    (value) => {
      if (typeof value !== 'number') throw new TypeError('no number')
      const n = Math.round(value * scale)
      if (n / scale !== value) throw new RangeError('between two readings')
      return n
    },
  )
  const limits = fc.constantFrom(min, max)
  return fc.oneof({ withCrossShrink: true }, { weight: 8, arbitrary: inside }, { weight: 1, arbitrary: limits })
}
