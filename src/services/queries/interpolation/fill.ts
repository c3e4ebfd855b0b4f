/**
 * Fills in missing values of one series, at ascending times.
 *
 * FILL-1 known values stay as they are
 * FILL-2 of a gap, at most `limit` are filled: from the left, for `backfill` from the right, and those of `linear`
 *   before the first known value next to it
 */
import type { SampleValue } from '#storage'
import { type Curve, type Method, type MethodName, methodOf } from './methods.ts'

export type Cell = SampleValue | null

export interface Interpolation {
  readonly method: MethodName
  readonly value?: number
  readonly order?: number
  readonly limit?: number
}

/** Fills values in place. Returns the number of filled values, or why filling is impossible. */
export function fill(
  times: Float64Array,
  cells: Cell[],
  { method: name, value = 0, order, limit = Number.POSITIVE_INFINITY }: Interpolation,
): { readonly filled: number } | { readonly lacking: string } {
  const method = methodOf(name, order)
  const isKnown = (cell: Cell): boolean => cell !== null && (isCarried(method) || typeof cell === 'number')
  const known = cells.flatMap((cell, i) => (isKnown(cell) ? [i] : []))
  if (method.kind === 'fixed') return { filled: fillGaps(cells, known, limit, { between: () => () => value }) }
  if (known.length === 0) return { filled: 0 }
  if (method.kind === 'pad') {
    const carried = ({ left }: Gap) => always(cells[left ?? 0] ?? null)
    return { filled: fillGaps(cells, known, limit, { between: carried, after: carried, before: 'not' }) }
  }
  if (method.kind === 'backfill') {
    const carried = ({ right }: Gap) => always(cells[right ?? 0] ?? null)
    const fillers: Fillers = { between: carried, after: 'not', before: carried, fromRight: true }
    return { filled: fillGaps(cells, known, limit, fillers) }
  }
  const x = Float64Array.from(known, (i) => times[i] ?? 0)
  const y = Float64Array.from(known, (i) => Number(cells[i]))
  if (method.kind !== 'curve') {
    const between = ({ left, right }: Gap) => lineOf(times, cells, left ?? 0, right ?? 0)
    const end = ({ left, right }: Gap) => always(cells[left ?? right ?? 0] ?? null)
    return { filled: fillGaps(cells, known, limit, { between, after: end, before: end }) }
  }
  if (known.length < method.points) {
    return {
      lacking: `${nameOf(name, order)} requires at least ${method.points} values, but the series has ${known.length}`,
    }
  }
  let curve: Curve | undefined
  const between = () => (i: number) => finite((curve ??= method.make(x, y))(times[i] ?? 0))
  return { filled: fillGaps(cells, known, limit, { between, after: 'not', before: 'not' }) }
}

function isCarried({ kind }: Method): boolean {
  return kind === 'pad' || kind === 'backfill' || kind === 'fixed'
}

function nameOf(name: string, order: number | undefined): string {
  return order === undefined ? name : `${name} of order ${order}`
}

interface Gap {
  readonly left: number | undefined
  readonly right: number | undefined
}

type Filler = (gap: Gap) => (i: number) => Cell

interface Fillers {
  readonly between: Filler
  readonly after?: Filler | 'not'
  readonly before?: Filler | 'not'
  /** true when the limit counts from the right */
  readonly fromRight?: boolean
}

function fillGaps(cells: Cell[], known: readonly number[], limit: number, fillers: Fillers): number {
  const { between, after = between, before = between, fromRight = false } = fillers
  let filled = 0
  const edges: readonly (number | undefined)[] = [undefined, ...known, undefined]
  for (let k = 1; k < edges.length; k += 1) {
    const gap: Gap = { left: edges[k - 1], right: edges[k] }
    const first = (gap.left ?? -1) + 1
    const behind = gap.right ?? cells.length
    const filler = gap.left === undefined ? before : gap.right === undefined ? after : between
    if (filler === 'not' || first >= behind) continue
    const of = filler(gap)
    for (const [start, end] of missingRuns(cells, first, behind)) {
      // before the first known value, positions next to that value are filled first
      const isFromRight = fromRight || (start === 0 && gap.left === undefined && before !== between)
      const from = isFromRight ? Math.max(start, end - limit) : start
      for (let i = from; i < Math.min(end, from + limit); i += 1) {
        const value = of(i)
        cells[i] = value
        if (value !== null) filled += 1
      }
    }
  }
  return filled
}

function missingRuns(cells: readonly Cell[], first: number, behind: number): readonly (readonly [number, number])[] {
  const runs: (readonly [number, number])[] = []
  for (let i = first; i < behind; i += 1) {
    if (cells[i] !== null) continue
    const start = i
    while (i < behind && cells[i] === null) i += 1
    runs.push([start, i])
  }
  return runs
}

function always(cell: Cell): () => Cell {
  return () => cell
}

function lineOf(times: Float64Array, cells: readonly Cell[], left: number, right: number): (i: number) => Cell {
  const [x0 = 0, x1 = 1, y0, y1] = [times[left], times[right], Number(cells[left]), Number(cells[right])]
  return (i) => finite(y0 + (((times[i] ?? 0) - x0) * (y1 - y0)) / (x1 - x0))
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
