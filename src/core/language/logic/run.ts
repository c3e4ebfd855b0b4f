/** The state of one evaluation of JSON Logic: its remaining work, and the item of the loop around it. */
import { AppError } from '#kernel'
import type { Path } from '../placeholders/scope.ts'

/** A path with its root in front, for a lookup by list. */
export interface LogicPath extends Path {
  readonly parts: readonly string[]
  /** of an optional placeholder: it reads only the present message, without carried values */
  readonly own?: boolean
}

export interface Run {
  readonly lookup: (path: LogicPath) => unknown
  left: number
  /** replacements of the lists and records that were read */
  guards?: Map<object, unknown>
}

export type LogicNode = (run: Run) => unknown

export const MAX_WORK = 1_000_000

export function spend(run: Run, amount: number): void {
  run.left -= amount
  if (run.left < 0) {
    throw new AppError(
      'TOO_LARGE',
      `the logic makes more than ${MAX_WORK} loop rounds, items or characters; use shorter lists`,
    )
  }
}
