/**
 * Expressions that are more than the closures of expression/ can do: any JavaScript that gives a value, as an expression
 * or as statements with a return. It runs in the fence, where each run begins anew:
 *
 * X1 What is read stands in the text, as there, and is handed in before the run; nothing else of the rule is inside.
 * X2 A value of the rule that is missing is an error that names it, where it is compared, calculated with or read
 *    further. What the code keeps in variables of its own follows JavaScript.
 * X3 Chance and waiting are refused; time is the engine's. So equal inputs give equal values.
 */
import { parse, parseExpressionAt, tokenizer, type AnyNode, type Expression, type Node, type Options } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import { placeIn } from '../expression/parse.ts'
import { readSource, type Problem, type Source } from '../expression/source.ts'
import { meteredSource } from './metered-source.ts'
import { Reads } from './rule-reads.ts'
import { childrenOf } from './syntax-tree.ts'

export interface ScriptExpression {
  /** code for the fence: takes `{ values: ([value] | [])[] }`, one for each of `uses`, and gives what SHAPES say */
  readonly code: string
  readonly uses: readonly LogicPath[]
}

/** What is made of the value inside of the fence, where it is still all that JavaScript knows. */
export type Wanted = 'value' | 'truth' | 'number'

const OPTIONS: Options = { ecmaVersion: 2022, sourceType: 'script', preserveParens: true }
const HEAD = '(function () {\n'

const SHAPES: Readonly<Record<Wanted, string>> = {
  value: '{ value }',
  truth: '{ value: !!value }',
  // JSON knows neither NaN nor Infinity
  number: '{ value: toText(toNumber(value)) }',
}

/** Compiles the text for the fence, or gives what is wrong with it. */
export function compileScriptExpression(
  text: string,
  wanted: Wanted,
): ScriptExpression | { readonly problems: readonly Problem[] } {
  const source = readSource(text)
  if (source.problems.length > 0) return { problems: source.problems }
  const parsed = parseEither(source.marked)
  if ('problem' in parsed) return { problems: [parsed.problem] }
  try {
    return compiled(text, source, parsed, wanted)
  } catch (error) {
    return { problems: [problemOf(error, text, 0)] }
  }
}

function compiled(
  text: string,
  source: Source,
  { tree, written, before }: Parsed,
  wanted: Wanted,
): ScriptExpression | { readonly problems: readonly Problem[] } {
  const reads = new Reads(text, source, before)
  reads.find(tree)
  const { code, uncounted } = meteredSource(tree, written, {
    replace: (node, suffix, asWritten) => reads.replace(node, suffix, asWritten),
    around: (inner, suffix) => wrapped(inner, suffix, wanted, reads.uses.length, before > 0),
  })
  const problems = [
    ...reads.problems,
    ...uncounted.map(({ at, what }): Problem => ({
      at: at - before,
      message: `there is no ${what}`,
      suggestion: 'write it in another way',
    })),
  ]
  return problems.length > 0 ? { problems } : { code, uses: reads.uses }
}

type Parsed = { readonly tree: Node; readonly written: string; readonly before: number }

function parseEither(marked: string): Parsed | { readonly problem: Problem } {
  const expression = parsedExpression(marked)
  if ('tree' in expression) return { tree: expression.tree, written: marked, before: 0 }
  const written = `${HEAD}${marked}\n})`
  try {
    const [statement] = parse(written, OPTIONS).body
    if (statement?.type !== 'ExpressionStatement' || statement.end !== written.length) return { problem: expression }
    const tree = statement.expression
    if (!returns(tree)) {
      const suggestion = 'end with return and the value, or write one expression'
      return { problem: { at: marked.length, message: 'the statements give no value', suggestion } }
    }
    return { tree, written, before: HEAD.length }
  } catch (error) {
    const other = problemOf(error, marked, HEAD.length)
    return { problem: other.at > expression.at ? other : expression }
  }
}

function parsedExpression(marked: string): { readonly tree: Expression } | Problem {
  try {
    const tree = parseExpressionAt(marked, 0, OPTIONS)
    const rest = tokenizer(' '.repeat(tree.end) + marked.slice(tree.end), OPTIONS)
    let next = rest.getToken()
    if (next.type.label === ';') next = rest.getToken()
    if (next.type.label === 'eof') return { tree }
    return { at: next.start, message: 'the expression is over here, and more follows', suggestion: 'write one' }
  } catch (error) {
    return problemOf(error, marked, 0)
  }
}

function problemOf(error: unknown, text: string, before: number): Problem {
  if (error instanceof RangeError) return { at: 0, message: 'it nests too deep', suggestion: 'write it simpler' }
  if (!(error instanceof SyntaxError) || !('pos' in error)) throw error
  const at = Math.min(Math.max(0, Number(error.pos) - before), text.length)
  const reason = error.message.replace(/ \(\d+:\d+\)$/, '')
  return { at, message: `${reason} at ${placeIn(text, at).words}`, suggestion: 'correct the code there' }
}

/** Whether the function around the statements has a return, and not just one inside of it. */
function returns(tree: Node): boolean {
  const look = (given: Node, isTop: boolean): boolean => {
    const node = given as AnyNode
    if (node.type === 'ReturnStatement') return true
    const isFunction = /^(?:Arrow)?Function/.test(node.type)
    return (isTop || !isFunction) && childrenOf(node).some((child) => look(child, isTop && !isFunction))
  }
  return look(tree, true)
}

/** No name in here can be meant by the code: its own names are its own, and every other is a read or a known global. */
function wrapped(inner: string, suffix: string, wanted: Wanted, count: number, isBody: boolean): string {
  const values = Array.from({ length: count }, (_, i) => `v${i}${suffix}`).join(', ')
  return `({ values }) => {
  const tag = {}, toNumber = Number, toText = String, json = JSON.stringify, isArray = Array.isArray
  const lack = (name) => { throw [tag, name] }
  const need${suffix} = (value, name) => (value === undefined ? lack(name) : value)
  const text${suffix} = (value, name, optional) => {
    if (value === undefined) return optional ? '' : lack(name)
    return typeof value === 'object' && value !== null ? json(value) : toText(value)
  }
  const [${values}] = values.map(([value, number]) => (number === undefined ? value : toNumber(number)))
  try {
    const value = ${isBody ? `(${inner})()` : `(() => (${inner}))()`}
    return ${SHAPES[wanted]}
  } catch (error) {
    if (isArray(error) && error[0] === tag) return { missing: error[1] }
    throw error
  }
}`
}
