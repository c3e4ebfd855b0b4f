/** Methods of interpolation by name; only `pad`, `fixed`, `backfill` and `linear` also fill outside known points. */
import { lastAtOrBefore } from '#services/shared'

/** Fraction of the largest value within which both sides count as equally smooth. */
const STEADY = 1e-9

function akima(x: Float64Array, y: Float64Array): Curve {
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

/** How a method fills: by repeating a known value, with a fixed value, or along a curve. */
export type Method =
  | { readonly kind: 'pad' | 'backfill' | 'fixed' | 'linear' }
  | {
      readonly kind: 'curve'
      /** least number of known points */
      readonly points: number
      readonly make: MakeCurve
    }

export const INTERPOLATION_METHODS = [
  'pad',
  'last',
  'fixed',
  'backfill',
  'linear',
  'nearest',
  'zero',
  'slinear',
  'quadratic',
  'cubic',
  'polynomial',
  'spline',
  'from_derivatives',
  'pchip',
  'akima',
] as const

export type MethodName = (typeof INTERPOLATION_METHODS)[number]

export const ORDERED: ReadonlySet<string> = new Set(['polynomial', 'spline'])

const DEGREES: Readonly<Partial<Record<MethodName, number>>> = { quadratic: 2, cubic: 3 }
const QUADRATIC = 2

/** Returns a method. `order`: 1 to 5, for `polynomial` and `spline`. */
export function methodOf(name: MethodName, order: number | undefined): Method {
  switch (name) {
    case 'pad':
    case 'last':
      return { kind: 'pad' }
    case 'fixed':
    case 'backfill':
    case 'linear':
      return { kind: name }
    case 'nearest':
      return { kind: 'curve', points: 1, make: steps((point, left, right) => point - left <= right - point) }
    case 'zero':
      return { kind: 'curve', points: 1, make: steps((point, _left, right) => point < right) }
    case 'slinear':
    case 'from_derivatives':
      return { kind: 'curve', points: 2, make: lines }
    case 'pchip':
      return { kind: 'curve', points: 2, make: pchip }
    case 'akima':
      return { kind: 'curve', points: 2, make: akima }
    case 'quadratic':
    case 'cubic':
    case 'polynomial':
    case 'spline':
      return spline(DEGREES[name] ?? order ?? QUADRATIC)
  }
}

function spline(degree: number): Method {
  return { kind: 'curve', points: degree + 1, make: degree === 1 ? lines : (x, y) => bSpline(x, y, degree) }
}

function steps(isLeft: (point: number, left: number, right: number) => boolean): MakeCurve {
  return (x, y) => (point) => {
    const i = lastKnown(x, point)
    const [left = point, right = Number.POSITIVE_INFINITY] = [x[i], x[i + 1]]
    return y[isLeft(point, left, right) ? i : i + 1] ?? Number.NaN
  }
}

function lines(x: Float64Array, y: Float64Array): Curve {
  return (point) => {
    const i = Math.min(lastKnown(x, point), x.length - 2)
    const [x0 = 0, x1 = 1, y0 = 0, y1 = 0] = [x[i], x[i + 1], y[i], y[i + 1]]
    return y0 + ((point - x0) * (y1 - y0)) / (x1 - x0)
  }
}

/** Builds shape-preserving cubic pieces, which stay within the range of their two points (Fritsch and Butland). */
function pchip(x: Float64Array, y: Float64Array): Curve {
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

/** Returns the slope at an end, from the parabola through three points, limited to preserve the shape. */
function edge(h0: number, h1: number, m0: number, m1: number): number {
  const tangent = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
  if (Math.sign(tangent) !== Math.sign(m0)) return 0
  return Math.sign(m0) !== Math.sign(m1) && Math.abs(tangent) > 3 * Math.abs(m0) ? 3 * m0 : tangent
}

/*
 * Interpolates with a spline of degree 2 to 5, like SciPy's `make_interp_spline`: knots are at the points for odd
 * degrees and between points for even ones, leaving out those nearest to the ends ("not a knot").
 *
 * The coefficients solve a banded system without pivoting, since collocation matrices of B-splines are totally
 * positive.
 */

/** `x` must contain more points than `degree`. */
function bSpline(x: Float64Array, y: Float64Array, degree: number): Curve {
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

/** Returns the value at a position between the first and the last point. */
export type Curve = (x: number) => number

type MakeCurve = (x: Float64Array, y: Float64Array) => Curve

function lastKnown(x: Float64Array, point: number): number {
  return Math.max(lastAtOrBefore(x, point), 0)
}

function hermite(x: Float64Array, y: Float64Array, slopes: Float64Array): Curve {
  return (point) => {
    const i = Math.min(lastKnown(x, point), x.length - 2)
    const [x0 = 0, x1 = 1, y0 = 0, y1 = 0] = [x[i], x[i + 1], y[i], y[i + 1]]
    const [d0 = 0, d1 = 0] = [slopes[i], slopes[i + 1]]
    const width = x1 - x0
    const slope = (y1 - y0) / width
    const bend = (d0 + d1 - 2 * slope) / width
    const off = point - x0
    return y0 + off * (d0 + off * ((slope - d0) / width - bend + (off * bend) / width))
  }
}
