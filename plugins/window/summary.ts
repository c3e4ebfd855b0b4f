/**
 * Summary of a set of numbers. Nothing is ever subtracted, so rounding errors do not accumulate (Chan, Golub, LeVeque).
 */
export type Summary = [count: number, mean: number, squares: number, least: number, most: number, sum: number]

export function emptySummary(): Summary {
  return [0, 0, 0, 0, 0, 0]
}

export function addTo(summary: Summary, value: number): void {
  const count = ++summary[0]
  const delta = value - summary[1]
  summary[1] += delta / count
  summary[2] += delta * (value - summary[1])
  summary[3] = count === 1 ? value : Math.min(summary[3], value)
  summary[4] = count === 1 ? value : Math.max(summary[4], value)
  summary[5] += value
}

/** returns one of the arguments when the other is empty */
export function merged(a: Summary, b: Summary): Summary {
  if (a[0] === 0) return b
  if (b[0] === 0) return a
  const count = a[0] + b[0]
  const delta = b[1] - a[1]
  return [
    count,
    a[1] + (delta * b[0]) / count,
    a[2] + b[2] + (delta * delta * a[0] * b[0]) / count,
    Math.min(a[3], b[3]),
    Math.max(a[4], b[4]),
    a[5] + b[5],
  ]
}

/** Sample standard deviation (divided by count - 1); 0 for a single number. */
export function deviation([count, , squares]: Summary): number {
  return count < 2 ? 0 : Math.sqrt(Math.max(0, squares) / (count - 1))
}
