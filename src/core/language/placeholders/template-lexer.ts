/** Splits the text of a template into words and tags. */
import type { Fault } from './path.ts'
import { scanName, unexpectedIn, type Name } from './template-name.ts'

export type LiteralValue = string | number | boolean | null | undefined

export type Word =
  | { readonly kind: 'name'; readonly name: Name }
  | { readonly kind: 'literal'; readonly value: LiteralValue }
  /** `as` stands for `as |` */
  | { readonly kind: 'mark'; readonly mark: '(' | ')' | '=' | '|' | 'as' }

/** Records whether `~` at a tag strips whitespace to its left or right. */
export interface Strip {
  readonly left: boolean
  readonly right: boolean
}

export interface Tag {
  readonly text: string
  /** `else` for `{{else}}`, `{{else if x}}` and `{{^}}`; `raw` for `{{{` and `{{&` */
  readonly kind: 'value' | 'raw' | 'open' | 'inverted' | 'close' | 'else' | 'comment'
  readonly words: readonly Word[]
  readonly strip: Strip
}

export type TemplateToken =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'tag'; readonly tag: Tag }

export interface LexedTemplate {
  readonly tokens: readonly TemplateToken[]
  readonly faults: readonly Fault[]
}

const MAX_TAGS = 10_000
const TOO_MANY_TAGS: Fault = { message: `the template has more than ${MAX_TAGS} tags`, suggestion: 'use {{#each}}' }

const MAX_FAULTS = 100

/** In one pass; never throws. `\{{` is a plain `{{`, and `\\` before a tag is one backslash. */
export function lexTemplate(text: string): LexedTemplate {
  const tokens: TemplateToken[] = []
  const faults: Fault[] = []
  let plain = ''
  let from = 0
  let tags = 0
  for (let open = text.indexOf('{{'); open >= 0 && faults.length < MAX_FAULTS; open = text.indexOf('{{', from)) {
    const slash = open > from && text[open - 1] === '\\'
    if (slash && !(open - 1 > from && text[open - 2] === '\\')) {
      plain += text.slice(from, open - 1) + '{{'
      from = open + 2
      continue
    }
    plain += text.slice(from, slash ? open - 1 : open)
    if (plain !== '') tokens.push({ kind: 'text', text: plain })
    plain = ''
    if (++tags > MAX_TAGS) return { tokens: [], faults: [TOO_MANY_TAGS] }
    const scanned = scanTag(text, open)
    if ('tag' in scanned) tokens.push({ kind: 'tag', tag: scanned.tag })
    // Continues after a broken tag, so that other faults are found too, each once.
    const behind = 'tag' in scanned ? scanned.end : text.indexOf('}}', scanned.end)
    if ('fault' in scanned)
      faults.push(behind < 0 ? unclosed(text, open) : described(text, open, behind, scanned.fault))
    from = behind < 0 ? text.length : 'tag' in scanned ? behind : behind + 2
  }
  plain += text.slice(from)
  if (plain !== '') tokens.push({ kind: 'text', text: plain })
  return { tokens, faults }
}

type Scanned = { readonly tag: Tag; readonly end: number } | { readonly fault: Fault; readonly end: number }

const KINDS: ReadonlyMap<string, Tag['kind']> = new Map([
  ['{', 'raw'],
  ['&', 'raw'],
  ['#', 'open'],
  ['^', 'inverted'],
  ['/', 'close'],
])

function scanTag(text: string, open: number): Scanned {
  const left = text[open + 2] === '~'
  const begin = open + (left ? 3 : 2)
  if (text[begin] === '!') return scanComment(text, open, begin, left)
  const refused = REFUSED.find(({ sign }) => text.startsWith(sign, begin))
  if (refused) return { fault: refused, end: begin }
  const kind = KINDS.get(text.charAt(begin))
  const end = kind === undefined ? elseEnd(text, begin) : begin + 1
  const scanned = scanWords(text, end ?? begin, text[begin] === '{' ? '}' : '')
  if ('fault' in scanned) return scanned
  const { words, right } = scanned
  const isElse = end !== undefined && (kind === undefined || (kind === 'inverted' && words.length === 0))
  const tag: Tag = {
    text: text.slice(open, scanned.end),
    kind: isElse ? 'else' : (kind ?? 'value'),
    words,
    strip: { left, right },
  }
  return { tag, end: scanned.end }
}

const REFUSED: readonly (Fault & { readonly sign: string })[] = [
  { sign: '>', message: 'is a partial, which is not supported', suggestion: 'write its text here' },
  { sign: '#>', message: 'is a partial, which is not supported', suggestion: 'write its text here' },
  { sign: '{{', message: 'is a raw block, which is not supported', suggestion: 'write \\{{ for a plain {{' },
  { sign: '*', message: 'is a decorator, which is not supported', suggestion: 'omit it' },
  { sign: '#*', message: 'is a decorator, which is not supported', suggestion: 'omit it' },
]

/** Scans a comment: `{{! ... }}` ends at the first `}}`, `{{!-- ... --}}` at the first `--}}`. */
function scanComment(text: string, open: number, begin: number, left: boolean): Scanned {
  const isLong = text.startsWith('--', begin + 1)
  for (let close = text.indexOf('}}', begin); close >= 0; close = text.indexOf('}}', close + 1)) {
    const right = close - 1 > begin && text[close - 1] === '~'
    const last = right ? close - 1 : close
    if (isLong && !(last - 2 > begin && text.startsWith('--', last - 2))) continue
    const tag: Tag = { text: text.slice(open, open + 60), kind: 'comment', words: [], strip: { left, right } }
    return { tag, end: close + 2 }
  }
  return { fault: EMPTY, end: text.length }
}

function elseEnd(text: string, begin: number): number | undefined {
  const word = /\s*else\b/y
  word.lastIndex = begin
  return word.test(text) ? word.lastIndex : undefined
}

type ScannedWords =
  | { readonly words: readonly Word[]; readonly right: boolean; readonly end: number }
  | { readonly fault: Fault; readonly end: number }

/** Returns the words up to the end of the tag, which is `}}` or `~}}` preceded by `before`. */
function scanWords(text: string, begin: number, before: string): ScannedWords {
  const words: Word[] = []
  const spaces = /\s*/y
  for (let at = begin; ;) {
    spaces.lastIndex = at
    spaces.test(text)
    at = spaces.lastIndex
    if (at >= text.length) return { fault: EMPTY, end: at }
    for (const [right, close] of [
      [false, `${before}}}`],
      [true, `${before}~}}`],
    ] as const) {
      if (text.startsWith(close, at)) return { words, right, end: at + close.length }
    }
    if (before !== '' && text.startsWith('}}', at)) return { fault: TWO_OF_THREE, end: at }
    const scanned = scanWord(text, at)
    if ('fault' in scanned) return scanned
    if (words.length >= MAX_WORDS) return { fault: TOO_MANY_WORDS, end: at }
    words.push(scanned.word)
    at = scanned.end
  }
}

type ScannedWord = { readonly word: Word; readonly end: number } | { readonly fault: Fault; readonly end: number }

function scanWord(text: string, at: number): ScannedWord {
  const character = text.charAt(at)
  switch (character) {
    case '(':
    case ')':
    case '=':
    case '|':
      return { word: { kind: 'mark', mark: character }, end: at + 1 }
    case '"':
    case "'":
      return scanQuoted(text, at, character)
  }
  const as = /as\s+\|/y
  as.lastIndex = at
  if (as.test(text)) return { word: { kind: 'mark', mark: 'as' }, end: as.lastIndex }
  LITERAL.lastIndex = at
  const literal = LITERAL.exec(text)?.[0]
  if (literal !== undefined) {
    const value = KEYWORDS.has(literal) ? KEYWORDS.get(literal) : Number(literal)
    return { word: { kind: 'literal', value }, end: at + literal.length }
  }
  const scanned = scanName(text, at)
  if ('fault' in scanned) return scanned
  // A name must be followed by a delimiter: `a"b"` is two words without a space between
  const next = text.charAt(scanned.end)
  if (next !== '' && !/[=~}\s)|]/.test(next)) return { fault: unexpectedIn(next), end: scanned.end }
  return { word: { kind: 'name', name: scanned.name }, end: scanned.end }
}

const LITERAL = /(?:true|false|null|undefined|-?[0-9]+(?:\.[0-9]+)?)(?=[~}\s)])/y
const KEYWORDS: ReadonlyMap<string, LiteralValue> = new Map<string, LiteralValue>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
])

/** Scans a quoted text. Only the quote itself can be escaped: `"a\"b"`. */
function scanQuoted(text: string, start: number, quote: string): ScannedWord {
  let value = ''
  let from = start + 1
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, from)) {
    if (text[at - 1] !== '\\') return { word: { kind: 'literal', value: value + text.slice(from, at) }, end: at + 1 }
    value += text.slice(from, at - 1) + quote
    from = at + 1
  }
  return { fault: EMPTY, end: text.length }
}

const MAX_WORDS = 100
const TOO_MANY_WORDS: Fault = { message: `has more than ${MAX_WORDS} words`, suggestion: 'use more tags' }
const TWO_OF_THREE: Fault = { message: 'begins with {{{ and ends with }}', suggestion: 'close it with }}}' }

const EMPTY: Fault = { message: '', suggestion: '' }

function unclosed(text: string, open: number): Fault {
  const close = text.startsWith('{{{', open) ? '}}}' : '}}'
  return {
    message: `"${text.slice(open, open + 40)}" is never closed`,
    suggestion: `close it with ${close}, or write \\{{ for a plain {{`,
  }
}

function described(text: string, open: number, close: number, fault: Fault): Fault {
  const shown = text.slice(open, Math.min(close + 2, open + 60))
  return { message: `"${shown}" ${fault.message}`, suggestion: fault.suggestion }
}
