import { parse, parseExpressionAt, tokenizer, type Expression, type Node, type Options } from 'acorn'
import { validationError } from '../../kernel/errors.ts'
import { placeIn } from '../expression/parse.ts'
import { meteredSource } from './metered-source.ts'

const OPTIONS: Options = { ecmaVersion: 2022, sourceType: 'script', preserveParens: true }

/** Longer scripts are refused, characters. */
const MAX_SCRIPT = 100_000

/**
 * A script as code for the fence, whose work is counted: an expression for a function of the prelude's meters that gives
 * a function of (options, send). Throws `VALIDATION` with the place of what is wrong.
 */
export function scriptFunction(source: string): string {
  if (source.length > MAX_SCRIPT) {
    throw refused(`the script has ${source.length} characters, at most ${MAX_SCRIPT} are read`)
  }
  try {
    const whole = functionOf(source)
    if (whole) return counted(whole, source, source, 0)
    const isAsync = returnsPromise(source)
    const body = `(${isAsync ? 'async ' : ''}function (options, send) {\n${source}\n})`
    const before = body.indexOf('\n') + 1
    return counted(parsed(body, source, before), body, source, before)
  } catch (error) {
    if (error instanceof RangeError) throw refused('the script nests too deep')
    throw error
  }
}

function parsed(body: string, source: string, before: number): Expression {
  try {
    const [statement] = parse(body, OPTIONS).body
    if (statement?.type === 'ExpressionStatement' && statement.end === body.length) return statement.expression
    throw refused('the script ends its function and goes on behind it')
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error)) throw error
    const { words } = placeIn(source, Math.max(0, Number(error.pos) - before))
    throw refused(`${words}: ${error.message.replace(/ \(\d+:\d+\)$/, '')}`)
  }
}

function counted(tree: Node, text: string, source: string, before: number): string {
  const { code, uncounted } = meteredSource(tree, text)
  const [first] = uncounted
  if (first === undefined) return code
  throw refused(`${placeIn(source, first.at - before).words}: there is no ${first.what}`)
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
