/** Finds the methods of values by type of the value. Each method charges for its work. */
import { LIST_METHODS } from './list-methods.ts'
import { numberArg, type Call, type Method } from './method.ts'
import { missing, unfit } from './run.ts'
import { TEXT_METHODS } from './text-methods.ts'

const NUMBER_METHODS: ReadonlyMap<string, Method<number>> = new Map<string, Method<number>>([
  ['toFixed', (self, call) => self.toFixed(between(call, 0, 0, 100))],
  ['toPrecision', (self, call) => (call.args.length === 0 ? String(self) : self.toPrecision(between(call, 1, 1, 100)))],
  ['toString', (self, call) => self.toString(between(call, 10, 2, 36))],
])

export const METHOD_NAMES: ReadonlySet<string> = new Set([
  ...TEXT_METHODS.keys(),
  ...LIST_METHODS.keys(),
  ...NUMBER_METHODS.keys(),
])

/** Calls a method. Throws `BINDING` for an unknown name. */
export function callMethod(self: unknown, name: string, call: Call, label: string): unknown {
  if (typeof self === 'string') {
    const method = TEXT_METHODS.get(name)
    if (method) return method(self, call)
  } else if (Array.isArray(self)) {
    const method = LIST_METHODS.get(name)
    if (method) return method(self, call)
  } else if (typeof self === 'number') {
    const method = NUMBER_METHODS.get(name)
    if (method) return method(self, call)
  } else if (typeof self === 'boolean' && name === 'toString') {
    return String(self)
  }
  if (self === undefined) throw missing(label)
  const kind =
    self === null
      ? 'null'
      : Array.isArray(self)
        ? 'a list'
        : typeof self === 'object'
          ? 'an object'
          : `a ${typeof self}`
  throw unfit(label, `is ${kind} and has no method ${name}`)
}

function between(call: Call, otherwise: number, least: number, most: number): number {
  const value = numberArg(call, 0, otherwise)
  if (value >= least && value <= most) return value
  throw unfit(call.label, `takes a number from ${least} to ${most}`)
}
