/**
 * Compiles expressions, the safe, read-only part of JavaScript that computes a value. An expression is parsed and
 * checked once and runs as closures, with these guarantees:
 *
 * EXPRESSION-1 All reads are visible in the text: values of the message by their bare names, and the roots of
 *   placeholders.
 * EXPRESSION-2 Only own fields of data are reachable, and only functions and methods from fixed tables can be called. A
 *   function is never a value, so nothing of the host can be named, kept or passed on.
 * EXPRESSION-3 Nothing is changed. Time is the engine's, and randomness the task's where the caller injects it; regular
 *   expressions are rejected.
 * EXPRESSION-4 Length and depth are bounded, and for one evaluation the number of calls, items and characters.
 * EXPRESSION-5 Unknown is not false: comparing or calculating with a missing value is an error that names it.
 *   `isKnown(x)`, `x == null`, `typeof x`, `??` and `?.` test for it; `!x`, `&&`, `||` and `?:` need a known value.
 *   kernel/values.ts defines what is known, what is a number and how values compare.
 */
import { type AppError, type Issue, LruCache, slackOf, validationError } from '#kernel'
import type { LogicPath } from '../logic/run.ts'
import { ExpressionCompiler } from './compile.ts'
import { positionIn, parseSource } from './parse.ts'
import { misreadings } from './misreadings.ts'
import { notEvaluated } from './refused.ts'
import { MAX_WORK, type Code, type Run } from './run.ts'
import { readSource, type Problem } from './source.ts'
import { measure } from './values.ts'

export interface CompiledExpression {
  /** all paths that an evaluation may read, each once */
  readonly uses: readonly LogicPath[]
  /**
   * `lookup` gets the same objects as `uses`; `now` is epoch ms. Throws `BINDING`, or `TOO_LARGE` at the limit of work.
   */
  evaluate(lookup: (path: LogicPath) => unknown, now: number, chance?: { random(): number }): unknown
  measure(lookup: (path: LogicPath) => unknown, now: number, chance?: { random(): number }): Measured
}

export interface Measured {
  readonly value: unknown
  readonly slack: number
}

export interface ExpressionOptions {
  /** allows `Math.random()`; each evaluation then needs a `chance`; default false */
  readonly chance?: boolean
}

export const MAX_EXPRESSION = 10_000

/** tasks of a template share expressions, and each is compiled in several places */
const KEPT = 500
const MAX_KEPT = 1_000

const MAX_PROBLEMS = 20

/**
 * In `"${path}"` a placeholder reads a text, elsewhere a value. Throws `VALIDATION` with every problem and its column.
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
  if (text.trim() === '')
    throw refused(text, [problem('the expression is empty', 'write one such as temperature > 25')])
  if (text.length > MAX_EXPRESSION) {
    const message = `the expression has ${text.length} characters, more than ${MAX_EXPRESSION}`
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
    const { words, line, column } = positionIn(text, at)
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
