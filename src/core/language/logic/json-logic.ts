/**
 * Compiles JSON Logic (jsonlogic.com), the language of declarative conditions, in a safe form. json-logic-js evaluates
 * it over a guarded view of the data. Our own operations compare, calculate and decide (comparisons.ts), also in loops,
 * and throw for unknown values. In addition to the library:
 *
 * LOGIC-1 Only own fields of lists and records are read: texts have no length, and values no methods. Reserved names
 *   are rejected.
 * LOGIC-2 All reads are visible in the logic: paths cannot be computed, and data never becomes logic.
 * LOGIC-3 `log`, `method`, unknown operators and wrong numbers of arguments are rejected.
 * LOGIC-4 Depth, size and work of one evaluation are bounded.
 * LOGIC-5 Paths have the roots of placeholders; a path without a root reads the message.
 */
import { validationError } from '#kernel'
import { notEvaluated } from '../expression/refused.ts'
import { LogicCompiler } from './compile.ts'
import { MAX_WORK, type LogicPath } from './run.ts'

export interface CompiledLogic {
  readonly uses: readonly LogicPath[]
  /**
   * `lookup` gets the same objects as `uses`. Throws `TOO_LARGE` at the limit of work, `BINDING` for a needed unknown
   * value.
   */
  evaluate(lookup: (path: LogicPath) => unknown): unknown
}

/** A text that is one `${path}` counts as a `var`. Throws `VALIDATION` with every problem and its JSON pointer. */
export function compileLogic(logic: unknown): CompiledLogic {
  const compiler = new LogicCompiler()
  const root = compiler.compile(logic)
  if (typeof logic === 'string' && compiler.paths.size === 0 && compiler.issues.count === 0) {
    compiler.issues.wrong(
      '',
      'a text is not a JSON Logic operation',
      'write an operation such as {">": [{"var": "temperature"}, 90]}',
    )
  }
  if (compiler.issues.count > 0) throw validationError('the JSON Logic', compiler.issues.list)
  return {
    uses: [...compiler.paths.values()],
    evaluate(lookup) {
      try {
        return root({ lookup, left: MAX_WORK })
      } catch (error) {
        throw notEvaluated('the logic', error)
      }
    },
  }
}
