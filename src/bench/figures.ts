/** Formats figures for tables. */

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  return (lower + upper) / 2
}

export function rate(perSecond: number): string {
  if (perSecond >= 1e6) return `${digits(perSecond / 1e6)} M`
  if (perSecond >= 1e3) return `${digits(perSecond / 1e3)} k`
  return digits(perSecond)
}

export function digits(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}
