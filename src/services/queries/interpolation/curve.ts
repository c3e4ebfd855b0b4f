/** Draws curves through known points. */
import { lastAtOrBefore } from '#services/shared'

/** Returns the value at a position between the first and the last point. */
export type Curve = (x: number) => number

export type MakeCurve = (x: Float64Array, y: Float64Array) => Curve

export function lastKnown(x: Float64Array, point: number): number {
  return Math.max(lastAtOrBefore(x, point), 0)
}

export function hermite(x: Float64Array, y: Float64Array, slopes: Float64Array): Curve {
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
