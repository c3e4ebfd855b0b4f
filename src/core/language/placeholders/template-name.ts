/** Reads names in tags of a template, in the syntax of handlebars. */
import { FORBIDDEN_KEYS } from '#kernel'
import { forbidden, MAX_SEGMENTS, unexpected, type Fault } from './path.ts'

/** A name in a tag of a template, such as `a.b`, `a/b`, `../x`, `this.x`, `@index`, `a.[my key]`, `a.0`. */
export interface Name {
  /** the name without brackets, to be compared with the end of a block */
  readonly text: string
  readonly data: boolean
  readonly depth: number
  /** true if it begins with `this`, `.` or `..`: never a helper and never a name of `as |...|` */
  readonly scoped: boolean
  readonly segments: readonly string[]
}

export type ScannedName =
  { readonly name: Name; readonly end: number } | { readonly fault: Fault; readonly end: number }

/** Characters that end a bare name, as in handlebars. */
const BARE_STOP = /[\s!"#%-,./;->@[-^`{-~]/
const AFTER_DOT = /[=~}\s/.)|]/

/** Never throws. In addition to handlebars, accepts `a[0]`, `a["my key"]` and `["my key"].x`. */
export function scanName(text: string, start: number): ScannedName {
  const data = text[start] === '@'
  const segments: string[] = []
  let shown = data ? '@' : ''
  let depth = 0
  let at = data ? start + 1 : start
  for (;;) {
    const step = scanStep(text, at)
    if ('fault' in step) return step
    const { part, literal, end } = step
    shown += part
    at = end
    if (!literal && (part === '..' || part === '.' || part === 'this')) {
      if (segments.length > 0) return { fault: misplaced(part), end }
      if (part === '..') depth++
    } else if (FORBIDDEN_KEYS.has(part)) return { fault: forbidden(part), end }
    else segments.push(part)
    if (segments.length + depth > MAX_SEGMENTS) {
      return { fault: { message: `has more than ${MAX_SEGMENTS} steps`, suggestion: 'use a shorter path' }, end }
    }
    const separator = text.charAt(at)
    if (separator === '.' || separator === '/') at++
    else if (separator !== '[' || segments.length === 0) break
    shown += separator === '[' ? '.' : separator
  }
  const scoped = /^\.|this\b/.test(shown)
  return { name: { text: shown, data, depth, scoped, segments }, end: at }
}

export function literalName(value: string | number | boolean | null | undefined): Name {
  const text = String(value)
  return { text, data: false, depth: 0, scoped: /^\.|this\b/.test(text), segments: text === '' ? [] : [text] }
}

type Step =
  | { readonly part: string; readonly literal: boolean; readonly end: number }
  | { readonly fault: Fault; readonly end: number }

function scanStep(text: string, start: number): Step {
  if (text[start] === '[') return quotedStep(text, start) ?? bracketStep(text, start)
  if (text.startsWith('..', start)) return { part: '..', literal: false, end: start + 2 }
  if (text[start] === '.' && AFTER_DOT.test(text.charAt(start + 1)))
    return { part: '.', literal: false, end: start + 1 }
  let end = start
  while (end < text.length && !BARE_STOP.test(text.charAt(end))) end++
  if (end > start) return { part: text.slice(start, end), literal: false, end }
  const nothing = end >= text.length || /[\s.}~/]/.test(text.charAt(end))
  return { fault: nothing ? EMPTY_STEP : unexpectedIn(text.charAt(end)), end }
}

/** Reads `[anything]`, where `\]` is `]`. */
function bracketStep(text: string, start: number): Step {
  let end = start + 1
  while (end < text.length && text[end] !== ']') end += text[end] === '\\' && text[end + 1] === ']' ? 2 : 1
  if (end >= text.length) {
    return { fault: { message: 'has a [ that is never closed', suggestion: 'close it with ]' }, end: text.length }
  }
  const part = text.slice(start + 1, end).replaceAll(/\\([\\\]])/g, '$1')
  return part === '' ? { fault: EMPTY_STEP, end: end + 1 } : { part, literal: true, end: end + 1 }
}

/** Reads `["anything"]` and `['anything']`, as in `${}`; undefined for any other bracket. */
function quotedStep(text: string, start: number): Step | undefined {
  const quote = text.charAt(start + 1)
  if (quote !== '"' && quote !== "'") return undefined
  let part = ''
  for (let at = start + 2; at < text.length && text[at] !== quote; at++) {
    if (text[at] === '\\') at++
    part += text.charAt(at)
    if (text[at + 1] === quote && text[at + 2] === ']') return { part, literal: true, end: at + 3 }
  }
  return undefined
}

const EMPTY_STEP: Fault = { message: 'has an empty step', suggestion: 'write a name between the dots' }

export function unexpectedIn(character: string): Fault {
  return {
    message: unexpected(character).message,
    suggestion: 'a name is words with dots, such as a.items.0; put other names in brackets: a.[my key]',
  }
}

function misplaced(part: string): Fault {
  return {
    message: `has "${part}" behind a name`,
    suggestion: `put it first, or write [${part}] for a field of that name`,
  }
}
