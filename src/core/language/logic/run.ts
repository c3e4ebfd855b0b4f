/** One evaluation of JSON Logic: the work that is left, and the item of the loop around it. */
import { AppError } from '#kernel'
import type { Path } from '../placeholders/scope.ts'

/** A path with its root in front, ready for a lookup by list. */
export interface LogicPath extends Path {
  /** `['nodes', 'a', 'state']` */
  readonly parts: readonly string[]
  /** of an optional placeholder: of the message it reads what the message at hand has itself, and nothing carried over */
  readonly own?: boolean
}

/** One evaluation. */
export interface Run {
  readonly lookup: (path: LogicPath) => unknown
  /** loop rounds, list items and characters that may still be made */
  left: number
  /** what the library was given in place of the lists and records that were read */
  guards?: Map<object, unknown>
}

/** Logic that is ready to give its value. */
export type LogicNode = (run: Run) => unknown

/** Loop rounds, list items and characters that one evaluation may make, all together. */
export const MAX_WORK = 1_000_000

/** Takes `amount` from what may still be done. Throws `TOO_LARGE` when that is used up. */
export function spend(run: Run, amount: number): void {
  run.left -= amount
  if (run.left < 0) {
    throw new AppError(
      'TOO_LARGE',
      `the logic makes more than ${MAX_WORK} loop rounds, items or characters; use shorter lists`,
    )
  }
}
