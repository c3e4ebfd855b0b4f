/**
 * Interpolates with a spline of degree 2 to 5, like SciPy's `make_interp_spline`: knots are at the points for odd
 * degrees and between points for even ones, leaving out those nearest to the ends ("not a knot").
 *
 * The coefficients solve a banded system without pivoting, since collocation matrices of B-splines are totally
 * positive.
 */
import { lastKnown, type Curve } from './curve.ts'

/** `x` must contain more points than `degree`. */
export function bSpline(x: Float64Array, y: Float64Array, degree: number): Curve {
  // centered and scaled, since x may be epoch ms
  const [first = 0, last = 1] = [x[0], x.at(-1)]
  const scale = last - first
  const points = x.map((point) => (point - first) / scale)
  const knots = knotsOf(points, degree)
  const coefficients = solve(points, y, knots, degree)
  const basis = new Float64Array(degree + 1)
  return (point) => {
    const at = (point - first) / scale
    const span = spanOf(knots, at, degree)
    basisAt(knots, at, span, degree, basis)
    let sum = 0
    for (let i = 0; i <= degree; i += 1) sum += (basis[i] ?? 0) * (coefficients[span - degree + i] ?? 0)
    return sum
  }
}

function knotsOf(x: Float64Array, degree: number): Float64Array {
  const half = degree >> 1
  const inner =
    degree % 2 === 1
      ? x.slice(half + 1, x.length - half - 1)
      : x.slice(half, x.length - half - 1).map((point, i) => (point + (x[half + i + 1] ?? 0)) / 2)
  const knots = new Float64Array(inner.length + 2 * (degree + 1))
  knots.fill(x[0] ?? 0, 0, degree + 1)
  knots.set(inner, degree + 1)
  knots.fill(x.at(-1) ?? 1, degree + 1 + inner.length)
  return knots
}

function spanOf(knots: Float64Array, point: number, degree: number): number {
  return Math.min(Math.max(lastKnown(knots, point), degree), knots.length - degree - 2)
}

/** Computes the non-zero B-splines of an interval (Cox and de Boor) into `basis`. */
function basisAt(knots: Float64Array, point: number, span: number, degree: number, basis: Float64Array): void {
  basis[0] = 1
  for (let d = 1; d <= degree; d += 1) {
    let saved = 0
    for (let r = 0; r < d; r += 1) {
      const [right, left] = [knots[span + r + 1] ?? 0, knots[span + 1 - d + r] ?? 0]
      const part = (basis[r] ?? 0) / (right - left)
      basis[r] = saved + (right - point) * part
      saved = (point - left) * part
    }
    basis[d] = saved
  }
}

function solve(x: Float64Array, y: Float64Array, knots: Float64Array, degree: number): Float64Array {
  const count = x.length
  const width = 2 * degree + 1
  const band = new Float64Array(count * width)
  const basis = new Float64Array(degree + 1)
  for (let row = 0; row < count; row += 1) {
    const span = spanOf(knots, x[row] ?? 0, degree)
    basisAt(knots, x[row] ?? 0, span, degree, basis)
    for (let i = 0; i <= degree; i += 1) {
      const column = span - degree + i - row + degree
      if (column >= 0 && column < width) band[row * width + column] = basis[i] ?? 0
    }
  }
  return eliminate(band, Float64Array.from(y), degree)
}

function eliminate(band: Float64Array, values: Float64Array, degree: number): Float64Array {
  const count = values.length
  const width = 2 * degree + 1
  for (let row = 0; row < count; row += 1) {
    const pivot = band[row * width + degree] ?? 1
    for (let below = row + 1; below <= Math.min(row + degree, count - 1); below += 1) {
      const factor = (band[below * width + degree - (below - row)] ?? 0) / pivot
      if (factor === 0) continue
      for (let i = 0; i <= degree; i += 1) {
        const at = below * width + degree - (below - row) + i
        band[at] = (band[at] ?? 0) - factor * (band[row * width + degree + i] ?? 0)
      }
      values[below] = (values[below] ?? 0) - factor * (values[row] ?? 0)
    }
  }
  for (let row = count - 1; row >= 0; row -= 1) {
    let rest = values[row] ?? 0
    for (let i = 1; i <= Math.min(degree, count - 1 - row); i += 1) {
      rest -= (band[row * width + degree + i] ?? 0) * (values[row + i] ?? 0)
    }
    values[row] = rest / (band[row * width + degree] ?? 1)
  }
  return values
}
