/**
 * The one safe way to expressions: the part of JavaScript that reads data and gives a value. An expression is parsed
 * and checked once and runs as closures, with these promises:
 *
 * EXPRESSION-1 What is read stands in the text: the values of the message by their bare names, and the roots of
 *   placeholders.
 * EXPRESSION-2 Only own fields of data are reachable, and only functions and methods of fixed tables can be called. No
 *   function is ever a value, so nothing of the machine can be named, kept or handed on.
 * EXPRESSION-3 Nothing is changed. Time is the engine's, and chance the task's where the caller hands it in; regular
 *   expressions are refused.
 * EXPRESSION-4 Length, depth, and calls, items and characters of one evaluation are bounded.
 * EXPRESSION-5 What is unknown is not false: to compare or calculate with a missing value is an error that names it.
 *   `isKnown(x)`, `x == null`, `typeof x`, `??` and `?.` ask whether it is there; `!x`, `&&`, `||` and `?:` decide. What is
 *   known, what is a number and how values compare says kernel/values.ts.
 */
import { type AppError, type Issue, LruCache, slackOf, validationError } from '#kernel'
import type { LogicPath } from '../logic/run.ts'
import { ExpressionCompiler } from './compile.ts'
import { placeIn, parseSource } from './parse.ts'
import { misreadings } from './misreadings.ts'
import { notEvaluated } from './refused.ts'
import { MAX_WORK, type Code, type Run } from './run.ts'
import { readSource, type Problem } from './source.ts'
import { measure } from './values.ts'

export interface CompiledExpression {
  /** everything that an evaluation may read, each once */
  readonly uses: readonly LogicPath[]
  /**
   * The value of the expression: JSON, or undefined. `lookup` gives the value at a path of `uses` (the very same object
   * each time), undefined when there is none; `now` is the time in epoch ms. Throws `BINDING` for a missing or unfit
   * value, `TOO_LARGE` when there is too much to do. `chance` is what `Math.random` is drawn from.
   */
  evaluate(lookup: (path: LogicPath) => unknown, now: number, chance?: { random(): number }): unknown
  /** the same with what a limit may be off from it: 0, but for a sum or a difference */
  measure(lookup: (path: LogicPath) => unknown, now: number, chance?: { random(): number }): Measured
}

export interface Measured {
  readonly value: unknown
  readonly slack: number
}

export interface ExpressionOptions {
  /** `Math.random()` may be called, and each evaluation gets a `chance`; default no */
  readonly chance?: boolean
}

/** Longer expressions are refused, characters. */
export const MAX_EXPRESSION = 10_000

/** Expressions that are kept compiled: the tasks of a template have the same ones, and each is compiled at several places. */
const KEPT = 500
/** Longer ones are not kept, characters. */
const MAX_KEPT = 1_000

/** More problems than this say nothing new. */
const MAX_PROBLEMS = 20

/**
 * Compiles an expression such as `temperature > 25 && nodes.door.state == "open"`. Placeholders in it are read where
 * they stand: `"${path}"` as text, `${path}` and `$${path}` as value. Throws `VALIDATION` with every problem, each
 * with its column and what would be right.
 */
export function compileExpression(
  text: string,
  { chance: hasChance = false }: ExpressionOptions = {},
): CompiledExpression {
  const { code, measured, uses } = compiledBefore(text, hasChance)
  const runOf = (lookup: Run['lookup'], now: number, chance: Run['chance']): Run => {
    return { lookup, now, left: MAX_WORK, largest: 0, chance }
  }
  const evaluate: CompiledExpression['evaluate'] = (lookup, now, chance) => {
    const run = runOf(lookup, now, chance)
    try {
      const value = code(run, undefined)
      if (typeof value === 'object' && value !== null) measure(run, value)
      return value
    } catch (error) {
      throw notEvaluated('the expression', error)
    }
  }
  if (measured === undefined) {
    return { uses, evaluate, measure: (lookup, now, chance) => ({ value: evaluate(lookup, now, chance), slack: 0 }) }
  }
  return {
    uses,
    evaluate,
    measure(lookup, now, chance) {
      const run = runOf(lookup, now, chance)
      try {
        return { value: measured(run, undefined), slack: slackOf(run.largest) }
      } catch (error) {
        throw notEvaluated('the expression', error)
      }
    },
  }
}

interface Compiled {
  readonly code: Code
  readonly measured: Code | undefined
  readonly uses: readonly LogicPath[]
}

/** What is compiled keeps nothing of an evaluation: whoever has the same text may share it. */
const kept = { withChance: new LruCache<string, Compiled>(KEPT), without: new LruCache<string, Compiled>(KEPT) }

function compiledBefore(text: string, hasChance: boolean): Compiled {
  if (text.length > MAX_KEPT) return compiled(text, hasChance)
  const known = hasChance ? kept.withChance : kept.without
  const before = known.get(text)
  if (before !== undefined) return before
  const made = compiled(text, hasChance)
  known.set(text, made)
  return made
}

function compiled(text: string, hasChance: boolean): Compiled {
  if (text.trim() === '') throw refused(text, [problem('it is empty', 'write one such as temperature > 25')])
  if (text.length > MAX_EXPRESSION) {
    const message = `it has ${text.length} characters, at most ${MAX_EXPRESSION} are read`
    throw refused('', [problem(message, 'split it over several nodes')])
  }
  const source = readSource(text)
  if (source.problems.length > 0) throw refused(text, source.problems)
  const parsed = parseSource(source, text)
  if (!('tree' in parsed)) throw refused(text, [parsed])
  const compiler = new ExpressionCompiler(text, source, hasChance)
  try {
    const { code, measured } = compiler.compile(parsed.tree, undefined)
    const problems = [...compiler.problems, ...misreadings(parsed.tree)]
    if (problems.length > 0) throw refused(text, problems)
    return { code, measured, uses: [...compiler.paths.values()] }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw refused(text, [problem('it nests too deep', 'write it with fewer brackets and operators')])
  }
}

function problem(message: string, suggestion: string): Problem {
  return { at: 0, message, suggestion }
}

function refused(text: string, problems: readonly Problem[]): AppError {
  const issues = problems.slice(0, MAX_PROBLEMS).map(({ at, message, suggestion }): Issue => {
    const { words, line, column } = placeIn(text, at)
    return {
      path: '',
      message: `${words}: ${message}`,
      suggestion,
      severity: 'ERROR',
      type: 'EXPRESSION',
      details: { line, column },
    }
  })
  return validationError('the expression', issues)
}
