/** Reads the content of a tag: a name, its operands, and the names of a block (`as |item|`). */
import { nearest } from '#kernel'
import type { Fault } from './path.ts'
import type { LiteralValue, Word } from './template-lexer.ts'
import { literalName, type Name } from './template-name.ts'
import { DateTime } from 'luxon'

export interface Reference {
  readonly name: Name
  /** present for a name of `as |...|`: how many such blocks outwards it is declared, and its index */
  readonly parameter?: { readonly level: number; readonly index: number }
}

export type Operand =
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'literal'; readonly value: LiteralValue }
  | { readonly kind: 'lookup'; readonly from: Operand; readonly key: Operand }
  | { readonly kind: 'call'; readonly helper: TemplateHelper; readonly operands: readonly Operand[] }

export interface Expression {
  readonly head: Name
  readonly operands: readonly Operand[]
  /** value of `includeZero=...` for `if` and `unless` */
  readonly includeZero: Operand | undefined
  readonly names: readonly string[]
  /** true without operands, so that the head may be a plain name */
  readonly bare: boolean
}

const MAX_CALL_DEPTH = 16
const BLOCKS = ['each', 'if', 'unless', 'with']

/** Reads the words of one tag. Problems are passed to `complain`, and the result is then undefined. */
export class ExpressionReader {
  readonly #words: readonly Word[]
  readonly #refer: (name: Name) => Reference | undefined
  readonly #complain: (fault: Fault) => void
  #at = 0
  #depth = 0

  constructor(words: readonly Word[], refer: (name: Name) => Reference | undefined, complain: (fault: Fault) => void) {
    this.#words = words
    this.#refer = refer
    this.#complain = complain
  }

  read(): Expression | undefined {
    const head = this.#head()
    if (head === undefined) return undefined
    const operands: Operand[] = []
    let includeZero: Operand | undefined
    let names: readonly string[] = []
    while (this.#at < this.#words.length) {
      const key = this.#key()
      if (key !== undefined) {
        includeZero = this.#operand()
        if (includeZero === undefined) return undefined
        if (key !== 'includeZero') return this.#fault(`has "${key}="`, 'omit it: only includeZero= of if is supported')
        continue
      }
      const word = this.#words[this.#at]
      if (word?.kind === 'mark' && word.mark === 'as') {
        const parameters = this.#names()
        if (parameters === undefined) return undefined
        names = parameters
        break
      }
      const operand = this.#operand()
      if (operand === undefined) return undefined
      operands.push(operand)
    }
    return { head, operands, includeZero, names, bare: operands.length === 0 && includeZero === undefined }
  }

  call(head: Name, operands: readonly Operand[]): Operand | undefined {
    const { text } = head
    const [from, key, ...more] = operands
    if (text === 'lookup') {
      if (from !== undefined && key !== undefined && more.length === 0) return { kind: 'lookup', from, key }
      return this.#fault(`calls "lookup" with ${operands.length} arguments`, 'write {{lookup object key}}')
    }
    if (BLOCKS.includes(text)) return this.#fault(`calls the block "${text}"`, `write {{#${text} ...}}`)
    const entry = HELPERS.get(text)
    if (!entry) {
      const names = [...HELPERS.keys(), 'lookup']
      const close = nearest(text, names)
      const hint = `use one of ${names.join(', ')}`
      const right = close === undefined ? hint : `did you mean "${close}"? ${hint}`
      return this.#fault(`calls an unknown helper "${text}"`, right)
    }
    const [min, max] = entry.arguments
    if (operands.length < min || operands.length > max) {
      return this.#fault(`calls "${text}" with ${operands.length} arguments`, `write ${entry.usage}`)
    }
    return { kind: 'call', helper: entry.helper, operands }
  }

  #head(): Name | undefined {
    const word = this.#words[this.#at++]
    if (word === undefined) return this.#fault('is empty', 'write {{<node label>.<field>}}')
    if (word.kind === 'name') return word.name
    if (word.kind === 'literal') return literalName(word.value)
    return this.#fault(`begins with "${word.mark}"`, 'begin with a name: {{<node label>.<field>}}')
  }

  #key(): string | undefined {
    const [word, mark] = this.#words.slice(this.#at, this.#at + 2)
    if (word?.kind !== 'name' || mark?.kind !== 'mark' || mark.mark !== '=') return undefined
    this.#at += 2
    return word.name.text
  }

  #operand(): Operand | undefined {
    const word = this.#words[this.#at++]
    if (word === undefined) return this.#fault('ends too early', 'write the value behind =')
    if (word.kind === 'literal') return word
    if (word.kind === 'name') {
      const reference = this.#refer(word.name)
      return reference && { kind: 'reference', reference }
    }
    if (word.mark !== '(') return this.#fault(`has an unexpected "${word.mark}"`, 'omit it')
    if (this.#depth >= MAX_CALL_DEPTH) {
      return this.#fault(`has more than ${MAX_CALL_DEPTH} calls inside each other`, 'use fewer')
    }
    this.#depth++
    const call = this.#innerCall()
    this.#depth--
    return call
  }

  #innerCall(): Operand | undefined {
    const head = this.#head()
    if (head === undefined) return undefined
    const operands: Operand[] = []
    for (;;) {
      const word = this.#words[this.#at]
      if (word === undefined) return this.#fault('has a ( that is never closed', 'close it with )')
      if (word.kind === 'mark' && word.mark === ')') break
      const operand = this.#operand()
      if (operand === undefined) return undefined
      operands.push(operand)
    }
    this.#at++
    return this.call(head, operands)
  }

  #names(): readonly string[] | undefined {
    const rest = this.#words.slice(this.#at + 1)
    const last = rest.at(-1)
    const names = rest.slice(0, -1).flatMap((word) => (word.kind === 'name' ? [word.name.text] : []))
    if (last?.kind === 'mark' && last.mark === '|' && names.length > 0 && names.length === rest.length - 1) return names
    return this.#fault('has an incomplete list of names', 'write as |item key| at its end')
  }

  #fault(message: string, suggestion: string): undefined {
    this.#complain({ message, suggestion })
  }
}

/** Returns the text of a call; empty for meaningless arguments, since a message with a gap is better than none. */
type TemplateHelper = (args: readonly unknown[]) => string

interface HelperEntry {
  readonly helper: TemplateHelper
  readonly arguments: readonly [min: number, max: number]
  readonly usage: string
}

const MAX_INPUT = 100

/** Helpers for `{{{name a b}}}`; times are UTC, formats are luxon's. */
const HELPERS: ReadonlyMap<string, HelperEntry> = new Map([
  ['add', arithmetic('add', (a, b) => a + b)],
  ['subtract', arithmetic('subtract', (a, b) => a - b)],
  ['multiply', arithmetic('multiply', (a, b) => a * b)],
  ['divide', arithmetic('divide', (a, b) => a / b)],
  ['date', moment('date', 'yyyy-MM-dd')],
  ['time', moment('time', 'HH:mm:ss')],
])

function arithmetic(name: string, combine: (a: number, b: number) => number): HelperEntry {
  return {
    helper([a, b]) {
      const result = combine(toNumber(a), toNumber(b))
      // 15 digits hide the noise of binary fractions: 0.1 + 0.2 becomes 0.3
      return Number.isFinite(result) ? String(Number(result.toPrecision(15))) : ''
    },
    arguments: [2, 2],
    usage: `{{{${name} a b}}}`,
  }
}

function moment(name: string, defaultFormat: string): HelperEntry {
  return {
    helper([value, format]) {
      const wanted = format === undefined ? defaultFormat : format
      const time = toTime(value)
      if (!time?.isValid || typeof wanted !== 'string' || wanted.length > MAX_INPUT) return ''
      return time.toFormat(wanted)
    },
    arguments: [1, 2],
    usage: `{{{${name} value "${defaultFormat}"}}}`,
  }
}

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_INPUT ? Number(value) : Number.NaN
}

function toTime(value: unknown): DateTime | undefined {
  const ms = toNumber(value)
  if (Number.isFinite(ms)) return DateTime.fromMillis(Math.trunc(clampTime(ms)), { zone: 'utc' })
  if (typeof value !== 'string' || value.length > MAX_INPUT) return undefined
  return DateTime.fromISO(value, { zone: 'utc' })
}

/** Limits ms to the range of Date, outside of which luxon throws instead of returning an invalid time. */
function clampTime(ms: number): number {
  return Math.min(8.64e15, Math.max(-8.64e15, ms))
}
