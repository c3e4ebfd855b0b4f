/** Reads arguments of methods and functions of expressions. */
import { spend, unfit, type Callback, type Run } from './run.ts'
import { numberOf, textOf } from './values.ts'

export interface Call {
  readonly run: Run
  readonly args: readonly unknown[]
  readonly label: string
}

export type Method<Self> = (self: Self, call: Call) => unknown

export function textArg({ run, args, label }: Call, index: number): string {
  refuseCallback(args[index], label)
  return textOf(run, args[index], `argument ${index + 1} of ${label}`)
}

/** Returns an argument as number, or a default when it is omitted. */
export function numberArg({ args, label }: Call, index: number, otherwise: number): number {
  if (index >= args.length || args[index] === undefined) return otherwise
  refuseCallback(args[index], label)
  return numberOf(args[index], `argument ${index + 1} of ${label}`)
}

export function callbackArg({ args, label }: Call, index: number): Callback {
  const value = args[index]
  if (typeof value === 'function') return value as Callback
  throw unfit(label, 'needs an arrow function, such as x => x > 1')
}

export function made<T extends string | readonly unknown[]>(run: Run, result: T): T {
  spend(run, result.length)
  return result
}

/** Charges for a search of `wanted` in `text`, which may compare both at each position. */
export function paySearch(run: Run, text: string, wanted: string): void {
  spend(run, 1 + (text.length * (1 + wanted.length / 16)) / 16)
}

function refuseCallback(value: unknown, label: string): void {
  if (typeof value === 'function') throw unfit(label, 'does not accept an arrow function there')
}
