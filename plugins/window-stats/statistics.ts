/** Computes statistics of a window: count, mean, extremes, sum, deviation and percentiles. */
import { keptPlain } from '#plug'
import { hasAt, summaryOf } from '../window/sliding-window.ts'
import { deviation } from '../window/summary.ts'
import {
  endOf,
  shiftOutOfReach,
  takeAt,
  timedWindow,
  type TimedWindow,
  type WindowReach,
} from '../window/timed-window.ts'
import { emptyTree, insert, percentileOf, remove, type OrderTree } from './order-tree.ts'

export const STATISTICS = ['count', 'mean', 'min', 'max', 'sum', 'std', 'percentile'] as const
export type Statistic = (typeof STATISTICS)[number]

/** Memory of a node: plain JSON that changes in place. The tree exists only if percentiles are needed. */
export interface Memory extends TimedWindow {
  readonly tree: OrderTree | null
}

export interface Statistics {
  count: number
  mean: number
  min: number
  max: number
  sum: number
  std: number
}

export function memoryOf(state: unknown, ordered: boolean): Memory {
  return keptPlain(fittingMemory(state, ordered))
}

function fittingMemory(state: unknown, ordered: boolean): Memory {
  if (!isMemory(state) || (state.tree !== null) !== ordered) {
    return { ...timedWindow(), tree: ordered ? emptyTree() : null }
  }
  // windows from older versions have no times of their own
  return 'newest' in state ? state : { ...timedWindow(state.window), tree: state.tree }
}

/** Adds a number measured at `at`, unless it is too late. Amortized constant time, O(log n) with a tree. */
export function take(memory: Memory, at: number, now: number, value: number, reach: WindowReach): void {
  if (!takeAt(memory, at, now, value, reach)) return
  if (memory.tree) insert(memory.tree, value)
  dropOld(memory, memory.newest ?? at, reach)
}

export function takeLate(memory: Memory, at: number, now: number, value: number, reach: WindowReach): void {
  if (!hasAt(memory.window, at, value)) take(memory, at, now, value, reach)
}

export function goOn(memory: Memory, now: number, reach: WindowReach): void {
  dropOld(memory, endOf(memory, now), reach)
}

function dropOld(memory: Memory, end: number, reach: WindowReach): void {
  for (;;) {
    const oldest = shiftOutOfReach(memory, end, reach)
    if (oldest === undefined) return
    if (memory.tree) remove(memory.tree, oldest)
  }
}

export function statisticsOf({ window }: TimedWindow): Statistics {
  const summary = summaryOf(window)
  const [count, mean, , min, max, sum] = summary
  return { count, mean, min, max, sum, std: deviation(summary) }
}

export function statisticOf(memory: Memory, all: Statistics, which: Statistic, percent: number): number {
  if (which !== 'percentile') return all[which]
  return memory.tree === null ? Number.NaN : percentileOf(memory.tree, percent)
}

function isMemory(state: unknown): state is Memory | Pick<Memory, 'window' | 'tree'> {
  return typeof state === 'object' && state !== null && 'window' in state && 'tree' in state
}
