/** Compiles a script to code for the sandbox, with counted work; placeholders in it are data, wherever they stand. */
import { parse, parseExpressionAt, tokenizer, type AnyNode, type Node, type Options } from 'acorn'
import { type Issue, validationError } from '#kernel'
import { positionIn } from '../expression/parse.ts'
import { readSource } from '../expression/source.ts'
import { missing } from '../expression/run.ts'
import type { LogicPath } from '../logic/run.ts'
import { Completion } from './completion.ts'
import { unknownRulesCode, textCode } from './encoded-values.ts'
import { meteredSource } from './metered-source.ts'
import { Reads } from './rule-reads.ts'

export interface CompiledScript {
  /** takes the meters, returns a function of (options, send); `options.values` is invisible to the script */
  readonly code: string
  /** what its placeholders read, each path once */
  readonly uses: readonly LogicPath[]
}

const OPTIONS: Options = { ecmaVersion: 2022, sourceType: 'script', preserveParens: true }

const MAX_SCRIPT = 100_000

/** In a template literal `${...}` is JavaScript's own. Throws `VALIDATION` with the positions of all problems. */
export function compileScript(source: string): CompiledScript {
  if (source.length > MAX_SCRIPT) {
    throw refused([`the script has ${source.length} characters, more than ${MAX_SCRIPT}`])
  }
  const read = readSource(source)
  if (read.problems.length > 0) {
    throw refused(read.problems.map(({ at, message, suggestion }) => [located(source, at, message), suggestion]))
  }
  try {
    const { tree, written, before, completion } = parsedScript(read.marked, source)
    const reads = new Reads(source, read, before, 'script')
    reads.find(tree)
    const { code, uncounted } = meteredSource(tree, written, {
      replace: (node, suffix, asWritten, write) =>
        completion?.replace(node, suffix, asWritten, write) ?? reads.replace(node, suffix, asWritten, write),
      around: (inner, suffix) => wrapped(inner, suffix, reads.uses.length, completion),
    })
    const problems = [
      ...reads.problems.map(({ at, message, suggestion }) => [located(source, at, message), suggestion] as const),
      ...uncounted.map(({ at, what }) => located(source, at - before, `unsupported: ${what}`)),
    ]
    if (problems.length > 0) throw refused(problems)
    return { code, uses: reads.uses }
  } catch (error) {
    if (error instanceof RangeError) throw refused(['the script nests too deep'])
    throw error
  }
}

interface Parsed {
  readonly tree: Node
  readonly written: string
  /** number of characters before the script in `written` */
  readonly before: number
  readonly completion?: Completion
}

function parsedScript(marked: string, source: string): Parsed {
  const whole = functionOf(marked)
  if (whole) return { tree: whole, written: marked, before: 0 }
  const isAsync = returnsPromise(marked)
  const written = `(${isAsync ? 'async ' : ''}function (options, send) {\n${marked}\n})`
  const before = written.indexOf('\n') + 1
  try {
    const [statement] = parse(written, OPTIONS).body
    const tree =
      statement?.type === 'ExpressionStatement' && statement.end === written.length ? statement.expression : null
    const inner = tree && bare(tree)
    if (!tree || inner?.type !== 'FunctionExpression')
      throw refused(['the script closes its function and continues after it'])
    // an async function waits for its return value; any other function may send its result meanwhile
    return { tree, written, before, completion: new Completion(inner.body.body, isAsync ? '' : 'settle') }
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error)) throw error
    const at = Math.max(0, Number(error.pos) - before)
    throw refused([located(source, at, error.message.replace(/ \(\d+:\d+\)$/, ''))])
  }
}

function functionOf(source: string): Node | undefined {
  try {
    const tree = parseExpressionAt(source, 0, OPTIONS)
    const rest = tokenizer(source.slice(tree.end), OPTIONS)
    let token = rest.getToken()
    if (token.type.label === ';') token = rest.getToken()
    const { type } = bare(tree)
    const isFunction = type === 'FunctionExpression' || type === 'ArrowFunctionExpression'
    return isFunction && token.type.label === 'eof' ? tree : undefined
  } catch {
    return undefined
  }
}

function bare(node: Node): AnyNode {
  let inner = node as AnyNode
  while (inner.type === 'ParenthesizedExpression') inner = inner.expression
  return inner
}

/** Whether a body waits and must therefore be an async function; any other body returns at once. */
function returnsPromise(source: string): boolean {
  try {
    parse(`(function (options, send) {\n${source}\n})`, OPTIONS)
    return false
  } catch {
    return true
  }
}

/** Wraps a script for the sandbox. Names used here cannot clash with the script's, since the suffix is unique. */
function wrapped(inner: string, suffix: string, count: number, completion?: Completion): string {
  const values = Array.from({ length: count }, (_, i) => `v${i}${suffix}`).join(', ')
  const [name, options, send] = ['name', 'options', 'send'].map((one) => one + suffix)
  return `(${options}, ${send}) => {
  const lack${suffix} = (${name}, was) => { throw new Error(${JSON.stringify(missing('').message)}.replace('""', () => '"' + ${name} + '"').replace('has no value', was === undefined ? 'has no value' : 'is ' + was)) }
  const need${suffix} = (value, name) => (value === undefined ? lack${suffix}(name) : value)
  ${textCode(suffix)}
  ${unknownRulesCode(suffix)}
  const [${values}] = (${options}.values || []).map(([value, number]) => (number === undefined ? value : Number(number)))
  delete ${options}.values
  ${completion === undefined ? '' : endCode(completion, suffix)}
  return (${inner}\n)(${options}, ${send})
}`
}

/** A promise of undefined is not the result: the script then sends its result itself. */
function endCode(completion: Completion, suffix: string): string {
  return `${completion.declaration(suffix)}
  const settle${suffix} = (value) => {
    if (value === null || typeof value !== 'object' || typeof value.then !== 'function') return value
    value.then((late) => { if (late !== undefined) send${suffix}(null, late) }, send${suffix})
  }`
}

function located(source: string, at: number, message: string): string {
  return `${positionIn(source, at).words}: ${message}`
}

const EXAMPLE = 'write a function such as (options) => ({ doubled: options.streamData.value * 2 })'

function refused(problems: readonly (string | readonly [message: string, suggestion: string])[]): Error {
  const issues = problems.slice(0, 20).map((problem): Issue => {
    const [message, suggestion] = typeof problem === 'string' ? [problem, EXAMPLE] : problem
    return { path: '', message, suggestion, severity: 'ERROR', type: 'SCRIPT' }
  })
  return validationError('the script', issues)
}
