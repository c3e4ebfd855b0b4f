/** Parses an expression, and describes its syntax errors. */
import { parseExpressionAt, tokenizer, type Expression, type Options } from 'acorn'
import { dottedName } from '../placeholders/dotted-name.ts'
import type { Source, Problem } from './source.ts'

const OPTIONS: Options = { ecmaVersion: 2022, sourceType: 'module', preserveParens: true }

/** Returns the syntax tree of an expression, or its syntax error. Only a semicolon may follow the expression. */
export function parseSource(source: Source, text: string): { readonly tree: Expression } | Problem {
  try {
    const tree = parseExpressionAt(source.marked, 0, OPTIONS)
    // spaces keep the later positions unchanged
    const rest = tokenizer(' '.repeat(tree.end) + source.marked.slice(tree.end), OPTIONS)
    let next = rest.getToken()
    if (next.type.label === ';') next = rest.getToken()
    if (next.type.label === 'eof') return { tree }
    return {
      at: next.start,
      message: `"${shorten(text.slice(next.start))}" follows the end of the expression`,
      suggestion: suggestionForWord(text, next.start) ?? 'write one expression, and join two with && or ||',
    }
  } catch (error) {
    return failure(error, text)
  }
}

/** Words that are used by mistake instead of operators, with the right operators. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['between', 'write between(x, low, high), or low <= x && x <= high'],
  ['contains', 'write contains(textOrList, part)'],
  ['includes', 'write contains(textOrList, part), or textOrList.includes(part)'],
  ['like', 'write contains(text, part), or text.startsWith(part)'],
  ['and', 'write && for and'],
  ['or', 'write || for or'],
  ['not', 'write !(x in list), or x != y'],
  ['is', 'write x == y'],
  ['equals', 'write x == y'],
  ['mod', 'write x % y'],
])

export function suggestionForWord(text: string, at: number): string | undefined {
  const dotted = dottedName(text)
  if (dotted !== undefined) return `write streamdata["${dotted}"] for a name with dots`
  return WORDS.get(/^[a-z]+/i.exec(text.slice(at, at + 20))?.[0].toLowerCase() ?? '')
}

export function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

export function positionIn(
  text: string,
  at: number,
): { readonly line: number; readonly column: number; words: string } {
  const before = text.slice(0, at).split('\n')
  const line = before.length
  const column = (before.at(-1)?.length ?? 0) + 1
  return { line, column, words: text.includes('\n') ? `line ${line}, column ${column}` : `column ${column}` }
}

function failure(error: unknown, text: string): Problem {
  if (error instanceof RangeError) {
    return { at: 0, message: 'the expression nests too deep', suggestion: 'write it with fewer brackets' }
  }
  if (!(error instanceof SyntaxError) || !('pos' in error)) throw error
  const at = Math.min(Number(error.pos), text.length)
  const found =
    at >= text.length ? 'the expression ends too early' : `"${shorten(text.slice(at, at + 20))}" is not expected here`
  const reason = error.message.replace(/ \(\d+:\d+\)$/, '')
  const more = reason === 'Unexpected token' ? '' : ` (${reason})`
  const otherwise = 'write an expression such as temperature > 25 && state == "on"'
  return { at, message: found + more, suggestion: suggestionForWord(text, at) ?? otherwise }
}
