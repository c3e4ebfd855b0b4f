/**
 * The one safe way to JSON Logic (jsonlogic.com), the language of declarative conditions. json-logic-js evaluates it
 * over a guarded view of the data. What compares, calculates and decides is ours (comparisons.ts), in its loops too: to
 * do so with a value that is unknown throws. Around the library:
 *
 * LOGIC-1 Only own fields of lists and records are read: a text has no length, nothing has methods. Reserved names are
 *   refused.
 * LOGIC-2 What is read stands in the logic: paths cannot be computed, and data never becomes logic.
 * LOGIC-3 `log`, `method` and unknown operators are refused, and so are wrong numbers of arguments.
 * LOGIC-4 Depth, size and work of one evaluation are bounded.
 * LOGIC-5 Paths have the roots of placeholders; a path that begins with none reads the message.
 */
import { validationError } from '#kernel'
import { notEvaluated } from '../expression/refused.ts'
import { LogicCompiler } from './compile.ts'
import { MAX_WORK, type LogicPath } from './run.ts'

export interface CompiledLogic {
  /** everything that an evaluation may read, each once */
  readonly uses: readonly LogicPath[]
  /**
   * The value of the logic. `lookup` gives the value at a path of `uses` (the very same object each time), undefined
   * when there is none. Throws `TOO_LARGE` when loops go on for too long, `BINDING` when a lookup fails or
   * a value that decides is unknown. `{"==": [x, null]}`, `missing` and a default ask whether there is one.
   */
  evaluate(lookup: (path: LogicPath) => unknown): unknown
}

/**
 * Compiles JSON Logic. `{"var": "temperature"}` reads the message, `{"var": "nodes.a.state"}` what placeholders read;
 * a text that is one `${path}` as a whole stands for such a var. Throws `VALIDATION` with every problem, each with
 * its JSON pointer.
 */
export function compileLogic(logic: unknown): CompiledLogic {
  const compiler = new LogicCompiler()
  const root = compiler.compile(logic)
  if (typeof logic === 'string' && compiler.paths.size === 0 && compiler.issues.count === 0) {
    compiler.issues.wrong('', 'a text is not logic', 'write an operation such as {">": [{"var": "temperature"}, 90]}')
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
