/** Guards json-logic-js, which would follow prototypes, call methods of records, and evaluate keys from data. */
import jsonLogic, { type RulesLogic } from 'json-logic-js'
import { ownValue } from '#kernel'
import { spend, type LogicNode, type Run } from './run.ts'

/** Calls its first argument, a function. JSON has no functions, so stored logic cannot use it. */
const CALL = 'reflexarc: call'

type Call = (scope: unknown, values: readonly unknown[]) => unknown
jsonLogic.add_operation(CALL, function (this: unknown, call: Call, ...values: unknown[]) {
  return call(this, values)
})

/** `scope`: the item inside a loop; `values`: the operation's arguments */
export type Step = (run: Run, scope: unknown, values: readonly unknown[]) => unknown

export class Library {
  /** the current evaluation, since the library passes only scopes to operations */
  private run: Run = { lookup: () => undefined, left: 0 }

  call(step: Step, args: readonly unknown[] = []): unknown {
    const call: Call = (scope, values) => step(this.run, scope, values)
    return { [CALL]: [call, ...args] }
  }

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

/** Replaces a record of the data by a value without fields that compares and prints like a record. */
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

/** The same list or record always has the same view, so that it stays equal to itself. */
export function guarded(value: unknown, run: Run): unknown {
  if (typeof value !== 'object' || value === null) return value
  const guards = (run.guards ??= new Map<object, unknown>())
  const known = guards.get(value)
  if (known !== undefined) return known
  const guard = Array.isArray(value) ? value.map((item) => guarded(item, run)) : new Guarded(value)
  guards.set(value, guard)
  return guard
}

/** Returns the value below the current item, reading only own fields. */
export function below(scope: unknown, segments: readonly string[], run: Run): unknown {
  let value = scope
  for (const segment of segments) {
    value = value instanceof Guarded ? guarded(ownValue(Guarded.open(value), segment), run) : ownValue(value, segment)
  }
  return value
}

function opened(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Guarded) return Guarded.open(value)
  if (Array.isArray(value)) return value.map(opened)
  // other records are the library's own, such as the scope of a reduce
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner)]))
}
