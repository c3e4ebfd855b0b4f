/**
 * The package json-logic-js as the evaluator, and the guard between it and the data. Left alone the library follows
 * prototypes when it reads, calls methods that records bring along when it compares, and evaluates keys that come out
 * of data. So all reading goes through one operation of ours, and what it hands out in place of a record is a `Guarded`.
 */
import jsonLogic, { type RulesLogic } from 'json-logic-js'
import { ownValue } from '#kernel'
import { spend, type LogicNode, type Run } from './run.ts'

/** Calls the function that is its first argument. JSON holds no functions, so nobody else's logic can use it. */
const CALL = 'reflexarc: call'

type Call = (scope: unknown, values: readonly unknown[]) => unknown
jsonLogic.add_operation(CALL, function (this: unknown, call: Call, ...values: unknown[]) {
  return call(this, values)
})

/** What is done in the midst of logic: `scope` is the current item inside of loops, `values` what its arguments gave. */
export type Step = (run: Run, scope: unknown, values: readonly unknown[]) => unknown

/** Evaluates the logic of one compilation. */
export class Library {
  /** the evaluation at hand, for the steps: the library hands on nothing but scopes */
  private run: Run = { lookup: () => undefined, left: 0 }

  /** Logic that takes a step. */
  call(step: Step, args: readonly unknown[] = []): unknown {
    const call: Call = (scope, values) => step(this.run, scope, values)
    return { [CALL]: [call, ...args] }
  }

  /** Logic whose steps spend what it makes. */
  spending(logic: unknown, amount: (value: unknown) => number): unknown {
    const step: Step = (run, _, [value]) => {
      spend(run, amount(value))
      return value
    }
    return this.call(step, [logic])
  }

  node(logic: unknown): LogicNode {
    return (run) => {
      const outer = this.run
      this.run = run
      try {
        return opened(jsonLogic.apply(logic as RulesLogic))
      } finally {
        this.run = outer
      }
    }
  }
}

/** Stands for a record of the data: a value without fields that compares and prints as records do. */
export class Guarded {
  readonly #record: object

  constructor(record: object) {
    this.#record = record
  }

  static open(value: unknown): unknown {
    return value instanceof Guarded ? value.#record : value
  }

  [Symbol.toPrimitive](): string {
    return '[object Object]'
  }
}

/** What the library may see of a value. The same list or record gives the same answer, so that it stays equal to itself. */
export function guarded(value: unknown, run: Run): unknown {
  if (typeof value !== 'object' || value === null) return value
  const guards = (run.guards ??= new Map<object, unknown>())
  const known = guards.get(value)
  if (known !== undefined) return known
  const guard = Array.isArray(value) ? value.map((item) => guarded(item, run)) : new Guarded(value)
  guards.set(value, guard)
  return guard
}

/** The value below the current item, own fields only; undefined when there is none. */
export function below(scope: unknown, segments: readonly string[], run: Run): unknown {
  let value = scope
  for (const segment of segments) {
    value = value instanceof Guarded ? guarded(ownValue(Guarded.open(value), segment), run) : ownValue(value, segment)
  }
  return value
}

/** The value that was guarded. */
function opened(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Guarded) return Guarded.open(value)
  if (Array.isArray(value)) return value.map(opened)
  // all other records are the library's own: what the body of a reduce sees
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner)]))
}
