/** Cubic pieces that keep the shape of what they go through: between two points they never leave their range (Fritsch and Butland). */
import { hermite } from './hermite.ts'
import type { Curve } from './curve.ts'

export function pchip(x: Float64Array, y: Float64Array): Curve {
  const widths = Float64Array.from({ length: x.length - 1 }, (_, i) => (x[i + 1] ?? 0) - (x[i] ?? 0))
  const slopes = widths.map((width, i) => ((y[i + 1] ?? 0) - (y[i] ?? 0)) / width)
  const at = (list: Float64Array, i: number): number => list[i] ?? 0
  const last = x.length - 1
  const tangents = new Float64Array(x.length)
  if (last === 1) return hermite(x, y, tangents.fill(at(slopes, 0)))
  for (let i = 1; i < last; i += 1) {
    const [h0, h1, m0, m1] = [at(widths, i - 1), at(widths, i), at(slopes, i - 1), at(slopes, i)]
    if (m0 * m1 <= 0) continue
    const [w0, w1] = [2 * h1 + h0, h1 + 2 * h0]
    tangents[i] = (w0 + w1) / (w0 / m0 + w1 / m1)
  }
  tangents[0] = edge(at(widths, 0), at(widths, 1), at(slopes, 0), at(slopes, 1))
  tangents[last] = edge(at(widths, last - 1), at(widths, last - 2), at(slopes, last - 1), at(slopes, last - 2))
  return hermite(x, y, tangents)
}

/** The tangent at an end, by the parabola through three points, held to the shape. */
function edge(h0: number, h1: number, m0: number, m1: number): number {
  const tangent = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
  if (Math.sign(tangent) !== Math.sign(m0)) return 0
  return Math.sign(m0) !== Math.sign(m1) && Math.abs(tangent) > 3 * Math.abs(m0) ? 3 * m0 : tangent
}
