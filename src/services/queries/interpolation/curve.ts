/** A curve through known points. */
import { lastAtOrBefore } from '#services/shared'

/** Its value at a place between the first and the last of them. */
export type Curve = (x: number) => number

/** Known points in rising order of `x`. */
export type MakeCurve = (x: Float64Array, y: Float64Array) => Curve

/** The last known point at a place or before it; the first one where none is. */
export function lastKnown(x: Float64Array, place: number): number {
  return Math.max(lastAtOrBefore(x, place), 0)
}

/** Cubic pieces between known points of which each has a slope. */
export function hermite(x: Float64Array, y: Float64Array, slopes: Float64Array): Curve {
  return (place) => {
    const i = Math.min(lastKnown(x, place), x.length - 2)
    const [x0 = 0, x1 = 1, y0 = 0, y1 = 0] = [x[i], x[i + 1], y[i], y[i + 1]]
    const [d0 = 0, d1 = 0] = [slopes[i], slopes[i + 1]]
    const width = x1 - x0
    const slope = (y1 - y0) / width
    const bend = (d0 + d1 - 2 * slope) / width
    const off = place - x0
    return y0 + off * (d0 + off * ((slope - d0) / width - bend + (off * bend) / width))
  }
}
