/** Holds the state of one evaluation of JSON Logic, such as its remaining work. */
import { AppError } from '#kernel'
import type { Path } from '../placeholders/scope.ts'

/** A path that also lists its root and segments in `parts`, for lookups. */
export interface LogicPath extends Path {
  readonly parts: readonly string[]
  /** an optional placeholder, which reads only the current message, not values carried over */
  readonly onlyCurrent?: boolean
}

export interface Run {
  readonly lookup: (path: LogicPath) => unknown
  left: number
  /** guarded replacements of the lists and records that were read */
  guards?: Map<object, unknown>
}

export type LogicNode = (run: Run) => unknown

export const MAX_WORK = 1_000_000

export function spend(run: Run, amount: number): void {
  run.left -= amount
  if (run.left < 0) {
    throw new AppError(
      'TOO_LARGE',
      `the logic processes more than ${MAX_WORK} loop rounds, items or characters; use shorter lists`,
    )
  }
}
