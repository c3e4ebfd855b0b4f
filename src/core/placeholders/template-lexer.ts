import type { Fault } from './path.ts'

export type TemplateToken =
  | { readonly kind: 'text'; readonly text: string }
  /** `{{words}}` or `{{{words}}}`; quoted words keep their quotes */
  | { readonly kind: 'tag'; readonly text: string; readonly words: readonly string[] }

export interface LexedTemplate {
  readonly tokens: readonly TemplateToken[]
  readonly faults: readonly Fault[]
}

/**
 * Splits a template into plain text and tags, in one pass; never throws. `\{{` stands for a plain `{{`, and
 * `{{! ... }}` is a comment.
 */
export function lexTemplate(text: string): LexedTemplate {
  const tokens: TemplateToken[] = []
  const faults: Fault[] = []
  let plain = ''
  let from = 0
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', from)) {
    if (open > from && text[open - 1] === '\\') {
      plain += text.slice(from, open - 1) + '{{'
      from = open + 2
      continue
    }
    plain += text.slice(from, open)
    const triple = text[open + 2] === '{'
    const begin = open + (triple ? 3 : 2)
    const tag = scanTag(text, begin, triple ? '}}}' : '}}')
    if (tag === undefined) {
      faults.push({
        message: `"${text.slice(open, open + 40)}" is never closed`,
        suggestion: `close it with ${triple ? '}}}' : '}}'}, or write \\{{ for a plain {{`,
      })
      from = text.length
      break
    }
    from = tag.end
    if (text[begin] === '!') continue
    if (plain !== '') tokens.push({ kind: 'text', text: plain })
    plain = ''
    tokens.push({ kind: 'tag', text: text.slice(open, tag.end), words: tag.words })
  }
  plain += text.slice(from)
  if (plain !== '') tokens.push({ kind: 'text', text: plain })
  return { tokens, faults }
}

function scanTag(text: string, begin: number, close: string): { words: string[]; end: number } | undefined {
  if (text[begin] === '!') {
    const end = text.indexOf(close, begin)
    return end < 0 ? undefined : { words: [], end: end + close.length }
  }
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let at = begin; at < text.length; at++) {
    const character = text.charAt(at)
    if (quote === '' && text.startsWith(close, at)) {
      if (word !== '') words.push(word)
      return { words, end: at + close.length }
    }
    if (quote === '' && /\s/.test(character)) {
      if (word !== '') words.push(word)
      word = ''
      continue
    }
    word += character
    if (quote !== '' && character === '\\') word += text.charAt(++at)
    else if (quote === '' && (character === '"' || character === "'")) quote = character
    else if (character === quote) quote = ''
  }
  return undefined
}
