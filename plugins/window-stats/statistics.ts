import {
  deviation,
  emptyTree,
  emptyWindow,
  insert,
  MAX_SAMPLES,
  oldestAt,
  percentileOf,
  pushTo,
  remove,
  shiftFrom,
  sizeOf,
  summaryOf,
  type OrderTree,
  type SlidingWindow,
} from '../../src/plug.ts'

export const STATISTICS = ['count', 'mean', 'min', 'max', 'sum', 'std', 'percentile'] as const
export type Statistic = (typeof STATISTICS)[number]

/** What a node keeps: plain JSON that changes in place. The tree is there only for percentiles. */
export interface Memory {
  readonly window: SlidingWindow
  readonly tree: OrderTree | null
}

/** How far back a window reaches: numbers, ms. */
export interface Reach {
  readonly samples: number
  readonly duration: number
}

export interface Statistics {
  count: number
  mean: number
  min: number
  max: number
  sum: number
  std: number
}

/** The memory of before, or a new one when there is none that fits. */
export function memoryOf(state: unknown, ordered: boolean): Memory {
  if (isMemory(state) && (state.tree !== null) === ordered) return state
  return { window: emptyWindow(), tree: ordered ? emptyTree() : null }
}

/** Takes a number in and lets go of those that are out of reach. Amortised constant time, O(log n) with a tree. */
export function take({ window, tree }: Memory, at: number, value: number, reach: Reach): void {
  pushTo(window, at, value)
  if (tree) insert(tree, value)
  const most = Math.min(reach.samples, MAX_SAMPLES)
  while (sizeOf(window) > most || (oldestAt(window) ?? at) <= at - reach.duration) {
    const oldest = shiftFrom(window)
    if (oldest === undefined) return
    if (tree) remove(tree, oldest)
  }
}

export function statisticsOf({ window }: Memory): Statistics {
  const summary = summaryOf(window)
  const [count, mean, , min, max, sum] = summary
  return { count, mean, min, max, sum, std: deviation(summary) }
}

export function statisticOf(memory: Memory, all: Statistics, which: Statistic, percent: number): number {
  if (which !== 'percentile') return all[which]
  return memory.tree === null ? Number.NaN : percentileOf(memory.tree, percent)
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'window' in state && 'tree' in state
}
