/** Splits a template text into JSON tokens. The text may begin and end within a string, a number or a word. */
import { FORBIDDEN_KEYS } from '#kernel'

/** numbers, because builders compare them all the time */
export const TOKEN = {
  space: 0,
  bare: 1,
  member: 2,
  comma: 3,
  string: 4,
  begin: 5,
  middle: 6,
  end: 7,
  openObject: 8,
  closeObject: 9,
  openList: 10,
  closeList: 11,
  colon: 12,
} as const

type TokenKind = (typeof TOKEN)[keyof typeof TOKEN]

export interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const SPACE = /[\t\n\r ]+/y
const BARE = /[\w.+-]+/y
const WITHIN = /[^"\\]*(?:\\[^][^"\\]*)*/y
const MARKS: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  ['{', TOKEN.openObject],
  ['}', TOKEN.closeObject],
  ['[', TOKEN.openList],
  [']', TOKEN.closeList],
  [':', TOKEN.colon],
  [',', TOKEN.comma],
])

/** `isInString`: whether the text begins (argument) or ends (result) within a string */
export function tokensOf(text: string, isInString: boolean): { tokens: readonly Token[]; isInString: boolean } {
  const tokens: Token[] = []
  let isOpen = isInString
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(text) ?? []
    at += found.length
    return found
  }
  const string = (kinds: readonly [whole: TokenKind, open: TokenKind]): void => {
    const part = unescaped(take(WITHIN))
    isOpen = at === text.length
    if (!isOpen && text.charAt(at) !== '"') throw new NotDirect()
    tokens.push({ kind: kinds[isOpen ? 1 : 0], text: part })
    at += 1
  }
  if (isOpen && text !== '') string([TOKEN.end, TOKEN.middle])
  while (at < text.length) {
    const char = text.charAt(at)
    const mark = MARKS.get(char)
    if (char === '"') {
      at += 1
      string([TOKEN.string, TOKEN.begin])
    } else if (mark !== undefined) {
      tokens.push({ kind: mark, text: char })
      at += 1
    } else if (take(SPACE) !== '') tokens.push({ kind: TOKEN.space, text: '' })
    else {
      const bare = take(BARE)
      if (bare === '') throw new NotDirect()
      tokens.push({ kind: TOKEN.bare, text: bare })
    }
  }
  return { tokens: fewer(tokens), isInString: isOpen }
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    throw new NotDirect()
  }
}

function fewer(tokens: readonly Token[]): readonly Token[] {
  const left: Token[] = []
  for (const [i, token] of tokens.entries()) {
    const [before, after] = [left.at(-1), tokens[i + 1]]
    const ends = before === undefined || before.kind === TOKEN.bare
    if (token.kind === TOKEN.space && !(ends && (after === undefined || after.kind === TOKEN.bare))) continue
    if (token.kind === TOKEN.colon && before?.kind === TOKEN.string) {
      if (FORBIDDEN_KEYS.has(before.text)) throw new NotDirect()
      left[left.length - 1] = { kind: TOKEN.member, text: before.text }
    } else left.push(token)
  }
  return left
}

/** Signals that the value or fault can only be determined from the rendered text. */
export class NotDirect extends Error {}
