/** Parses character classes of patterns: `[a-z]`, `\d`, `\p{Alpha}`. */
import { failed } from '../fault.ts'

export type Fits = (code: number) => boolean

interface Read {
  readonly fits: Fits
  readonly next: number
  readonly code?: number
}

const between =
  (...edges: readonly (readonly [number, number])[]): Fits =>
  (code) =>
    edges.some(([from, to]) => code >= from && code <= to)
const digit = between([48, 57])
const space = between([9, 13], [32, 32])
const word = between([48, 57], [65, 90], [95, 95], [97, 122])
const not =
  (fits: Fits): Fits =>
  (code) =>
    !fits(code)

const CLASSES: ReadonlyMap<string, Fits> = new Map([
  ['d', digit],
  ['D', not(digit)],
  ['s', space],
  ['S', not(space)],
  ['w', word],
  ['W', not(word)],
  ['h', between([9, 9], [32, 32], [160, 160])],
  ['v', between([10, 13], [0x85, 0x85], [0x2028, 0x2029])],
])

const NAMED: ReadonlyMap<string, Fits> = new Map([
  ['Lower', between([97, 122])],
  ['Upper', between([65, 90])],
  ['Alpha', between([65, 90], [97, 122])],
  ['Digit', digit],
  ['Alnum', between([48, 57], [65, 90], [97, 122])],
  ['Punct', between([33, 47], [58, 64], [91, 96], [123, 126])],
  ['Space', space],
  ['Blank', between([9, 9], [32, 32])],
  ['XDigit', between([48, 57], [65, 70], [97, 102])],
  ['ASCII', between([0, 127])],
  ['L', (code) => /\p{L}/u.test(String.fromCharCode(code))],
  ['Lu', (code) => /\p{Lu}/u.test(String.fromCharCode(code))],
  ['Ll', (code) => /\p{Ll}/u.test(String.fromCharCode(code))],
  ['N', (code) => /\p{N}/u.test(String.fromCharCode(code))],
  ['P', (code) => /\p{P}/u.test(String.fromCharCode(code))],
])

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, r: 13, f: 12, a: 7, e: 27 }

export function readEscape(source: string, at: number): Read {
  const char = source.charAt(at)
  const known = CLASSES.get(char)
  if (known !== undefined) return { fits: known, next: at + 1 }
  if (char === 'p' || char === 'P') {
    const [all = '', name = '', short = ''] = /^(?:\{(?:Is)?(\w{1,20})\}|(\w))/.exec(source.slice(at + 1)) ?? []
    const named = NAMED.get(name || short)
    if (named === undefined) throw failed(`the pattern has an unknown class at ${at}`)
    return { fits: char === 'P' ? not(named) : named, next: at + 1 + all.length }
  }
  const [hex = '', x = '', u = ''] = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(source.slice(at)) ?? []
  if (hex !== '') return single(Number.parseInt(x || u, 16), at + hex.length)
  const control = CONTROLS[char]
  if (control !== undefined && Object.hasOwn(CONTROLS, char)) return single(control, at + 1)
  if (/[A-Za-z]/.test(char) || char === '') throw failed(`the pattern has an escape that is not supported at ${at}`)
  return single(char.charCodeAt(0), at + 1)
}

export function readClass(source: string, at: number, depth = 0): Read {
  if (depth > 20) throw failed('the pattern has classes that nest too deep')
  const isNegated = source.charAt(at) === '^'
  let next = isNegated ? at + 1 : at
  /** each list must contain a match; `&&` begins another list */
  const required: Fits[][] = [[]]
  for (let isFirst = true; isFirst || source.charAt(next) !== ']'; isFirst = false) {
    if (next >= source.length) throw failed('the pattern has a class that is not closed')
    if (source.startsWith('&&', next)) {
      required.push([])
      next += 2
      continue
    }
    const item = readItem(source, next, depth)
    required.at(-1)?.push(item.fits)
    next = item.next
  }
  const fits: Fits = (code) => required.every((items) => items.some((one) => one(code)))
  return { fits: isNegated ? not(fits) : fits, next: next + 1 }
}

function readItem(source: string, at: number, depth: number): Read {
  const char = source.charAt(at)
  if (char === '[') return readClass(source, at + 1, depth + 1)
  const first = char === '\\' ? readEscape(source, at + 1) : single(char.charCodeAt(0), at + 1)
  const { next } = first
  if (first.code === undefined || source.charAt(next) !== '-' || source.charAt(next + 1) === ']') return first
  const isEscaped = source.charAt(next + 1) === '\\'
  const last = isEscaped ? readEscape(source, next + 2) : single(source.charCodeAt(next + 1), next + 2)
  if (last.code === undefined || last.code < first.code) throw failed(`the pattern has an invalid range at ${at}`)
  return { fits: between([first.code, last.code]), next: last.next }
}

function single(code: number, next: number): Read {
  return { fits: (other) => other === code, next, code }
}
