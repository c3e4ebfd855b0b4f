/** Cubic pieces whose slopes lean to the side where the course is steadier (Akima 1970). */
import { hermite } from './hermite.ts'
import type { Curve } from './curve.ts'

/** Below so much of the largest one, both sides count as equally steady. */
const STEADY = 1e-9

export function akima(x: Float64Array, y: Float64Array): Curve {
  const count = x.length
  const slopes = slopesAround(x, y)
  const at = (i: number): number => slopes[i] ?? 0
  if (count === 2) return hermite(x, y, new Float64Array(count).fill(at(2)))
  const change = (i: number): number => Math.abs(at(i + 1) - at(i))
  const weights = Float64Array.from({ length: count }, (_, i) => change(i + 2) + change(i))
  const least = STEADY * weights.reduce((most, weight) => Math.max(most, weight), 0)
  const tangents = weights.map((weight, i) => {
    if (!(weight > least)) return (at(i + 3) + at(i)) / 2
    return (change(i + 2) * at(i + 1) + change(i) * at(i + 2)) / weight
  })
  return hermite(x, y, tangents)
}

/** Slopes of the pieces, with two more on each side that go on as the outermost do. */
function slopesAround(x: Float64Array, y: Float64Array): Float64Array {
  const pieces = x.length - 1
  const slopes = new Float64Array(pieces + 4)
  const at = (i: number): number => slopes[i] ?? 0
  for (let i = 0; i < pieces; i += 1) {
    slopes[i + 2] = ((y[i + 1] ?? 0) - (y[i] ?? 0)) / ((x[i + 1] ?? 1) - (x[i] ?? 0))
  }
  if (pieces === 1) return slopes
  slopes[1] = 2 * at(2) - at(3)
  slopes[0] = 2 * at(1) - at(2)
  slopes[pieces + 2] = 2 * at(pieces + 1) - at(pieces)
  slopes[pieces + 3] = 2 * at(pieces + 2) - at(pieces + 1)
  return slopes
}
