/** One evaluation of an expression: what it may still do, its chance, and its pieces of code. */
import { AppError, isKnown, nextSeed, randomOf, whyNoNumber, whyUnknown } from '#kernel'
import type { LogicPath } from '../logic/run.ts'

/** One evaluation. */
export interface Run {
  readonly lookup: (path: LogicPath) => unknown
  /** epoch ms */
  readonly now: number
  /** calls of arrow functions, list items and characters that may still be made */
  left: number
  /** the largest operand of the sum that was worked out last */
  largest: number
  /** what `Math.random` is drawn from, where it may be called */
  readonly chance?: { random(): number } | undefined
  /** of the numbers of `Math.random`, once one was asked for */
  seed?: number
}

/** The next number in [0, 1): all of one evaluation follow from one draw, so that code in the sandbox makes the same. */
export function nextChance(run: Run, label: string): number {
  if (run.chance === undefined) throw unfit(label, 'has no chance here')
  run.seed = nextSeed(run.seed ?? drawSeed(run.chance))
  return randomOf(run.seed)
}

/** A seed of 32 bits. */
export function drawSeed(source: { random(): number }): number {
  return Math.floor(source.random() * 4_294_967_296)
}

/** The parameters of the arrow functions around a piece of code, the inmost first. */
export interface Frame {
  readonly slots: readonly unknown[]
  readonly outer: Frame | undefined
}

/** A compiled piece of an expression. */
export type Code = (run: Run, frame: Frame | undefined) => unknown

/** An arrow function while its call lasts. Never a value of an expression. */
export type Callback = (...given: readonly unknown[]) => unknown

/** What one evaluation may spend, all together. */
export const MAX_WORK = 1_000_000

/** Takes `amount` from what may still be done. Throws `TOO_LARGE` when that is used up. */
export function spend(run: Run, amount: number): void {
  run.left -= amount
  if (!(run.left >= 0)) {
    throw new AppError(
      'TOO_LARGE',
      `the expression makes more than ${MAX_WORK} calls, list items or characters; use shorter lists and texts`,
    )
  }
}

/** The error for a value that is not there: what is unknown is neither false nor 0. */
export function missing(label: string): AppError {
  return unknown(label, undefined)
}

/** The error for a value that is not known where something is decided. */
export function unknown(label: string, value: unknown): AppError {
  const hint =
    value === undefined || value === null
      ? 'test it with != null, or give another value with ?? where it may be missing'
      : 'test it with isKnown(...) where that may be'
  return new AppError('BINDING', `"${label}" ${whyUnknown(value)}; ${hint}`)
}

/** The error for a value that is no number where one is asked. */
export function noNumber(label: string, value: unknown): AppError {
  return isKnown(value) ? unfit(label, whyNoNumber(value)) : unknown(label, value)
}

/** The error for a value that is there and of no use. */
export function unfit(label: string, wanted: string): AppError {
  return new AppError('BINDING', `"${label}" ${wanted}`)
}
