/**
 * The methods of interpolation, by name. Each fills in what is missing between known points; what lies outside of them is
 * filled by `pad`, `fixed`, `backfill` and `linear` alone.
 */
import { akima } from './akima.ts'
import { bSpline } from './b-spline.ts'
import { lastKnown, type Curve, type MakeCurve } from './curve.ts'
import { pchip } from './pchip.ts'

/** What `fill` does: carry a known value, give a fixed one, or draw a curve. */
export type Method =
  | { readonly kind: 'pad' | 'backfill' | 'fixed' | 'linear' }
  | {
      readonly kind: 'curve'
      /** known points that it takes at least */
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

/** Those that need an `order`. */
export const ORDERED: ReadonlySet<string> = new Set(['polynomial', 'spline'])

/** Degree of the splines that a name stands for. */
const DEGREES: Readonly<Partial<Record<MethodName, number>>> = { quadratic: 2, cubic: 3 }
const QUADRATIC = 2

/** `order`: of `polynomial` and `spline`, 1 to 5. */
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
      return { kind: 'curve', points: 1, make: steps((place, left, right) => place - left <= right - place) }
    case 'zero':
      return { kind: 'curve', points: 1, make: steps((place, _left, right) => place < right) }
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

function steps(isLeft: (place: number, left: number, right: number) => boolean): MakeCurve {
  return (x, y) => (place) => {
    const i = lastKnown(x, place)
    const [left = place, right = Number.POSITIVE_INFINITY] = [x[i], x[i + 1]]
    return y[isLeft(place, left, right) ? i : i + 1] ?? Number.NaN
  }
}

function lines(x: Float64Array, y: Float64Array): Curve {
  return (place) => {
    const i = Math.min(lastKnown(x, place), x.length - 2)
    const [x0 = 0, x1 = 1, y0 = 0, y1 = 0] = [x[i], x[i + 1], y[i], y[i + 1]]
    return y0 + ((place - x0) * (y1 - y0)) / (x1 - x0)
  }
}
