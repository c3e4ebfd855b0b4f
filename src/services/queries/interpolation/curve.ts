/** A curve through known points. */

/** Its value at a place between the first and the last of them. */
export type Curve = (x: number) => number

/** Known points in rising order of `x`. */
export type MakeCurve = (x: Float64Array, y: Float64Array) => Curve

/** The last known point at a place or before it; the first one where none is. */
export function lastKnown(x: Float64Array, place: number): number {
  let [low, high] = [0, x.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((x[middle] ?? Number.NaN) <= place) low = middle + 1
    else high = middle
  }
  return Math.max(low - 1, 0)
}
