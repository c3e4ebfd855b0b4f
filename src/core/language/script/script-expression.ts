/**
 * Compiles expressions beyond the closures of expression/: any JavaScript that computes a value, as an expression or as
 * statements that return a value or end in one. It runs in the sandbox, fresh for each run:
 *
 * SCRIPT-1 All reads are visible in the text, as in expressions, and their values are passed in before the run; nothing
 *   else of the rule is inside.
 * SCRIPT-2 A missing value of the rule is an error that names it, wherever it is compared, calculated with or read
 *   further; so is null or NaN in a decision. Values of the rule are compared and calculated with as kernel/values.ts
 *   defines. Variables of the code itself follow JavaScript.
 * SCRIPT-3 Waiting is rejected; time is the engine's, and randomness comes from the input. So equal inputs lead to
 *   equal values.
 * SCRIPT-4 `in` finds the items of lists and the own keys of objects, and the functions of expressions exist, as in the
 *   closures.
 */
import { parse, parseExpressionAt, tokenizer, type Expression, type Node, type Options } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import { misreadings } from '../expression/misreadings.ts'
import { suggestionForWord, positionIn } from '../expression/parse.ts'
import { readSource, type Problem, type Source } from '../expression/source.ts'
import { Completion, droppedValues, returnsValue, objectLikeBlock, hasNoReturn } from './completion.ts'
import { unknownRulesCode, textCode } from './encoded-values.ts'
import { meteredSource } from './metered-source.ts'
import { Reads } from './rule-reads.ts'
import { DAYS, INSTANT, isCalendarPart, MAX_INSTANT, type CalendarPart } from '../expression/word-functions.ts'

export interface ScriptExpression {
  /** takes `{ values, now, zones }`: a value per `uses`, the span per `zones`; returns a form of SHAPES */
  readonly code: string
  readonly uses: readonly LogicPath[]
  readonly zones: readonly string[]
  /** true if `Math.random` may be called, so that a seed is needed */
  readonly hasChance: boolean
}

/** Form in which the sandbox returns the value, applied while it is still a JavaScript value. */
export type Wanted = 'value' | 'truth' | 'number'

const OPTIONS: Options = { ecmaVersion: 2022, sourceType: 'script', preserveParens: true }
const HEAD = '(function () {\n'

const SHAPES: Readonly<Record<Wanted, string>> = {
  value: '{ value }',
  truth: '{ value: isUnknown(value) ? null : !!value }',
  // JSON knows neither NaN nor Infinity
  number: "{ value: typeof value === 'number' ? [toText(value)] : value }",
}

/** Compiles the text for the sandbox, or returns its problems. */
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
  { tree, written, before, body }: Parsed,
  wanted: Wanted,
): ScriptExpression | { readonly problems: readonly Problem[] } {
  const reads = new Reads(text, source, before)
  reads.find(tree)
  const completion = body && new Completion(body)
  const { code, uncounted } = meteredSource(tree, written, {
    replace: (node, suffix, asWritten, write) =>
      completion?.replace(node, suffix, asWritten, write) ?? reads.replace(node, suffix, asWritten, write),
    around: (inner, suffix) => wrapped(inner, suffix, wanted, reads, completion),
  })
  const problems = [
    ...reads.problems,
    ...misreadings(tree).map((one) => ({ ...one, at: one.at - before })),
    ...(body ? misusedStatements(body, before) : []),
    ...uncounted.map(({ at, what }): Problem => ({
      at: at - before,
      message: `unsupported: ${what}`,
      suggestion: 'write it in another way',
    })),
  ]
  if (problems.length > 0) return { problems }
  return { code, uses: reads.uses, zones: [...reads.zones], hasChance: reads.hasChance }
}

interface Parsed {
  readonly tree: Node
  readonly written: string
  /** number of characters before the text in `written` */
  readonly before: number
  readonly body?: readonly Node[]
}

function parseEither(marked: string): Parsed | { readonly problem: Problem } {
  const expression = parsedExpression(marked)
  if ('tree' in expression) return { tree: expression.tree, written: marked, before: 0 }
  const written = `${HEAD}${marked}\n})`
  try {
    const [statement] = parse(written, OPTIONS).body
    if (statement?.type !== 'ExpressionStatement' || statement.end !== written.length) return { problem: expression }
    const tree = statement.expression
    const inner = tree.type === 'ParenthesizedExpression' ? tree.expression : tree
    if (inner.type !== 'FunctionExpression') return { problem: expression }
    const { body } = inner.body
    if (!returnsValue(body)) {
      const suggestion = 'end with the value, such as let a = temperature * 2; a > 50, or with return and the value'
      return { problem: { at: marked.length, message: 'the statements return no value', suggestion } }
    }
    return { tree, written, before: HEAD.length, body }
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
    return { at: next.start, message: 'the expression ends here, but more follows', suggestion: 'write one' }
  } catch (error) {
    return problemOf(error, marked, 0)
  }
}

function problemOf(error: unknown, text: string, before: number): Problem {
  if (error instanceof RangeError) return { at: 0, message: 'it nests too deep', suggestion: 'simplify it' }
  if (!(error instanceof SyntaxError) || !('pos' in error)) throw error
  const at = Math.min(Math.max(0, Number(error.pos) - before), text.length)
  const reason = error.message.replace(/ \(\d+:\d+\)$/, '')
  const suggestion = suggestionForWord(text, at) ?? 'correct the code there'
  return { at, message: `${reason} at ${positionIn(text, at).words}`, suggestion }
}

/** Finds statements that JavaScript reads differently from what they look like. */
function misusedStatements(body: readonly Node[], before: number): readonly Problem[] {
  // code with a return was always accepted, so stored rules may contain such lines
  if (!hasNoReturn(body)) return []
  const block = objectLikeBlock(body)
  const problems = droppedValues(body).map(({ start }): Problem => {
    const message = 'this value is unused, because more code follows'
    return { at: start - before, message, suggestion: 'join conditions with && or ||' }
  })
  if (block === undefined) return problems
  const message = 'the braces at the end are a block of statements'
  return [...problems, { at: block.start - before, message, suggestion: 'put brackets around an object: ({ ... })' }]
}

/** Names cannot clash: the code's own names are local, and every other name is a read or a known global. */
function wrapped(inner: string, suffix: string, wanted: Wanted, reads: Reads, completion?: Completion): string {
  const values = reads.uses.map((_, i) => `v${i}${suffix}`).join(', ')
  return `({ values, now, zones }) => {
  const tag = {}, toNumber = Number, toText = String, isArray = Array.isArray, Wrong = TypeError
  const { getPrototypeOf, hasOwn, prototype } = Object
  const isUnknown = (value) => value === undefined || value === null || (typeof value === 'number' && value - value !== 0)
  const lack${suffix} = (name, was) => { throw [tag, name, was === undefined ? was : toText(was)] }
  const need${suffix} = (value, name) => (value === undefined ? lack${suffix}(name) : value)
  ${textCode(suffix)}
  ${unknownRulesCode(suffix)}
  const in${suffix} = (key, all, name) => {
    if (isArray(all)) return all.some((item) => law${suffix}('==', '', '', item, key))
    if (typeof all !== 'object' || all === null) {
      throw new Wrong(name + (typeof all === 'string' ? ' is a text; write contains(text, part)' : ' is neither a list nor an object'))
    }
    const above = getPrototypeOf(all)
    return above === prototype || above === null ? hasOwn(all, use${suffix}(key)) : use${suffix}(key) in all
  }
  ${wordCode(reads.words, suffix)}
  const [${values}] = values.map(([value, number]) => (number === undefined ? value : toNumber(number)))
  ${completion?.declaration(suffix) ?? ''}
  try {
    const value = ${completion ? `(${inner})()` : `(() => (${inner}))()`}
    return ${SHAPES[wanted]}
  } catch (error) {
    if (isArray(error) && error[0] === tag) return { missing: error[1], was: error[2] }
    throw error
  }
}`
}

const PARTS: Readonly<Record<CalendarPart, string>> = {
  year: 'getUTCFullYear()',
  month: 'getUTCMonth() + 1',
  day: 'getUTCDate()',
  weekday: 'getUTCDay()',
  hour: 'getUTCHours()',
  minute: 'getUTCMinutes()',
  second: 'getUTCSeconds()',
}

/** Needs `use` of the meters, and `zones`: per name `[from, until, [begin, offset][]]` in ms. */
function wordCode(words: ReadonlySet<string>, suffix: string): string {
  const code: string[] = []
  if (words.has('now')) code.push(`const now${suffix} = now`)
  if (words.has('between')) {
    code.push(
      `const between${suffix} = (x, low, high) => law${suffix}('<=', 'low', 'x', low, x) && law${suffix}('<=', 'x', 'high', x, high)`,
    )
  }
  if (words.has('isKnown')) code.push(`const isKnown${suffix} = (x) => !isUnknown(x)`)
  if (words.has('number')) code.push(`const number${suffix} = (x) => count${suffix}(x, 'x')`)
  if (words.has('contains')) {
    code.push(`const contains${suffix} = (all, part) => {
    if (typeof all === 'string' || isArray(all)) return all.includes(part)
    throw new Wrong('contains is given neither a text nor a list first')
  }`)
  }
  const parts = [...words].filter(isCalendarPart)
  if (parts.length > 0) code.push(CALENDAR)
  for (const part of parts) {
    const read = `dateOf('${part}', at, zone).${PARTS[part]}`
    code.push(`const ${part}${suffix} = (at, zone) => ${part === 'weekday' ? `days[${read}]` : read}`)
  }
  return code.join('\n  ')
}

const CALENDAR = `const days = ${JSON.stringify(DAYS)}, pattern = ${String(INSTANT)}, Instant = Date
  const dateOf = (name, given, zone) => {
    const at = typeof given === 'number' ? given : typeof given === 'string' && pattern.test(given) ? Instant.parse(given) : NaN
    if (!(at <= ${MAX_INSTANT} && at >= -${MAX_INSTANT})) {
      throw new Wrong(name + ' is given no instant; give epoch milliseconds, or a text such as 2026-01-31T08:00:00Z')
    }
    if (zone === undefined) return new Instant(at)
    const [from, until, changes] = zones[zone]
    if (at < from || at >= until) {
      throw new Wrong(name + ' is given an instant more than a year from now; write the code as one expression, which knows time zones at any time')
    }
    let offset = 0
    for (const [begin, value] of changes) if (begin <= at) offset = value
    return new Instant(at + offset)
  }`
