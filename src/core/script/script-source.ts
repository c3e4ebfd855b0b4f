import { parse, parseExpressionAt, tokenizer, type AnyNode, type Node, type Options } from 'acorn'
import { validationError } from '../../kernel/errors.ts'
import { placeIn } from '../expression/parse.ts'

const OPTIONS: Options = { ecmaVersion: 2022, sourceType: 'script', preserveParens: true }

/** Longer scripts are refused, characters. */
const MAX_SCRIPT = 100_000

/** A script as the source of one function of (options, send). Throws `VALIDATION` with the place of what is wrong. */
export function scriptFunction(source: string): string {
  if (source.length > MAX_SCRIPT) {
    throw refused(`the script has ${source.length} characters, at most ${MAX_SCRIPT} are read`)
  }
  const whole = functionOf(source)
  if (whole) {
    refuseSyntax(whole, source, 0)
    return `(${source.trim().replace(/;$/, '')}\n)`
  }
  const body = `(async function (options, send) {\n${source}\n})`
  const before = body.indexOf('\n') + 1
  try {
    refuseSyntax(parse(body, OPTIONS), source, before)
    return returnsPromise(source) ? body : body.replace('async ', '')
  } catch (error) {
    if (error instanceof RangeError) throw refused('the script nests too deep')
    if (!(error instanceof SyntaxError) || !('pos' in error)) throw error
    const { words } = placeIn(source, Math.max(0, Number(error.pos) - before))
    throw refused(`${words}: ${error.message.replace(/ \(\d+:\d+\)$/, '')}`)
  }
}

function functionOf(source: string): Node | undefined {
  try {
    const tree = parseExpressionAt(source, 0, OPTIONS)
    const rest = tokenizer(source.slice(tree.end), OPTIONS)
    let token = rest.getToken()
    if (token.type.label === ';') token = rest.getToken()
    let inner = tree
    while (inner.type === 'ParenthesizedExpression') inner = inner.expression
    const isFunction = inner.type === 'FunctionExpression' || inner.type === 'ArrowFunctionExpression'
    return isFunction && token.type.label === 'eof' ? tree : undefined
  } catch {
    return undefined
  }
}

/** What the fence cannot count, because the interpreter does it in one step however much there is. */
const UNCOUNTED: Readonly<Record<string, string>> = {
  ObjectExpression: 'spread in an object; write Object.assign({}, other)',
  ObjectPattern: 'rest of an object; name the fields',
  ForInStatement: 'for ... in; write for (const key of Object.keys(object))',
  ImportExpression: 'import; a script has no modules',
  Literal: 'bigint; write a number',
}

function refuseSyntax(node: Node, source: string, before: number): void {
  const text = Object.hasOwn(UNCOUNTED, node.type) ? UNCOUNTED[node.type] : undefined
  if (text !== undefined && isUncounted(node as AnyNode)) {
    throw refused(`${placeIn(source, node.start - before).words}: there is no ${text}`)
  }
  for (const value of Object.values(node) as readonly unknown[]) {
    for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (isNode(child)) refuseSyntax(child, source, before)
    }
  }
}

function isUncounted(node: AnyNode): boolean {
  if (node.type === 'ObjectExpression') return node.properties.some(({ type }) => type === 'SpreadElement')
  if (node.type === 'ObjectPattern') return node.properties.some(({ type }) => type === 'RestElement')
  return node.type !== 'Literal' || typeof node.value === 'bigint'
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** A body that waits must be an async function; any other answers at once. */
function returnsPromise(source: string): boolean {
  try {
    parse(`(function (options, send) {\n${source}\n})`, OPTIONS)
    return false
  } catch {
    return true
  }
}

function refused(message: string): Error {
  return validationError('the script', [
    {
      path: '',
      message,
      suggestion: 'write a function such as (options) => ({ doubled: options.streamData.value * 2 })',
      severity: 'ERROR',
      type: 'SCRIPT',
    },
  ])
}
