import jsonLogic, { type RulesLogic } from 'json-logic-js'
import { toPrimitive } from './coercion.ts'
import { spend, type LogicNode } from './run.ts'

/** Operators that json-logic-js itself carries out. */
export const LIBRARY_OPERATORS = ['cat', 'substr', 'merge'] as const
export type LibraryOperator = (typeof LIBRARY_OPERATORS)[number]

/**
 * A node that hands finished arguments to json-logic-js. The library follows prototypes when it walks data, so it gets
 * nothing to walk: its logic is the operator over numbered slots, and its data the list of arguments.
 */
export function libraryNode(operator: LibraryOperator, args: readonly LogicNode[]): LogicNode {
  const logic = { [operator]: args.map((_, index) => ({ var: [String(index)] })) } as unknown as RulesLogic
  const prepare = operator === 'merge' ? (value: unknown) => value : toPrimitive
  return (run, item) => {
    const result: unknown = jsonLogic.apply(
      logic,
      args.map((arg) => prepare(arg(run, item))),
    )
    if (typeof result === 'string' || Array.isArray(result)) spend(run, result.length)
    return result
  }
}
