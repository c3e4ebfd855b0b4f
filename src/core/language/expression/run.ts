/** Holds the state of one evaluation of an expression: its remaining work, its randomness, and its frames. */
import { AppError, isKnown, nextSeed, randomOf, whyNoNumber, whyUnknown } from '#kernel'
import type { LogicPath } from '../logic/run.ts'

export interface Run {
  readonly lookup: (path: LogicPath) => unknown
  readonly now: number
  /** remaining calls of arrow functions, list items and characters */
  left: number
  /** largest operand of the last sum */
  largest: number
  readonly chance?: { random(): number } | undefined
  seed?: number
}

/** In [0, 1). All numbers of one evaluation derive from one draw, so that the sandbox gets the same. */
export function nextRandom(run: Run, label: string): number {
  if (run.chance === undefined) throw unfit(label, 'has no random numbers')
  run.seed = nextSeed(run.seed ?? drawSeed(run.chance))
  return randomOf(run.seed)
}

export function drawSeed(source: { random(): number }): number {
  return Math.floor(source.random() * 4_294_967_296)
}

/** Holds the parameters of the arrow functions around a piece of code, innermost first. */
export interface Frame {
  readonly slots: readonly unknown[]
  readonly outer: Frame | undefined
}

export type Code = (run: Run, frame: Frame | undefined) => unknown

export type Callback = (...values: readonly unknown[]) => unknown

export const MAX_WORK = 1_000_000

export function spend(run: Run, amount: number): void {
  run.left -= amount
  if (!(run.left >= 0)) {
    throw new AppError(
      'TOO_LARGE',
      `the expression processes more than ${MAX_WORK} calls, list items or characters; use shorter lists and texts`,
    )
  }
}

/** Creates the error for a missing value, since unknown is neither false nor 0. */
export function missing(label: string): AppError {
  return unknown(label, undefined)
}

export function unknown(label: string, value: unknown): AppError {
  const hint =
    value === undefined || value === null
      ? 'test it with != null, or supply a default with ?? if it may be missing'
      : 'test it with isKnown(...) first'
  return new AppError('BINDING', `"${label}" ${whyUnknown(value)}; ${hint}`)
}

export function noNumber(label: string, value: unknown): AppError {
  return isKnown(value) ? unfit(label, whyNoNumber(value)) : unknown(label, value)
}

export function unfit(label: string, wanted: string): AppError {
  return new AppError('BINDING', `"${label}" ${wanted}`)
}
