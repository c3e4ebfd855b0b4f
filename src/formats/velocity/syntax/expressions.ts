/** Parses references and expressions. Differences between 1.7 and 2.4 are marked. */
import type { Fault } from '../fault.ts'
import { toDouble, toWhole } from '../values/numbers.ts'
import type { Operator } from '../values/arithmetic.ts'
import type { Value } from '../values/value.ts'
import type { Cursor } from './cursor.ts'
import type { Block, Comparison, Expression, Part, Reference } from './nodes.ts'

export type ReadText = (text: string, at: number) => Block

const SPACE = /[ \t\r\n]+/y
const NAME_17 = /[A-Za-z_][A-Za-z0-9_-]*/y
const NAME_24 = /[A-Za-z_][A-Za-z0-9_]*/y
const DOT_17 = /\.(?=[A-Za-z])/y
const DOT_24 = /\.(?=[A-Za-z_])/y
/** a reference in braces that begins with `$` is never resolved */
const OPENING = /\$!?(?:\{(?:\$!?){0,8})?(?=[A-Za-z_])/y
const LEAD = /[\\$!]{0,16}(?=\$!?(?:\{(?:\$!?){0,8})?[A-Za-z_])/y
const INTEGER = /-?\d+(?:(?=\.\.)|(?![.eE\d])|(?=[eE](?![+-]?\d)))/y
const FLOAT = /-?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)/y
const TEXT = /"(?:[^"]|"")*"|'(?:[^']|'')*'/y
const WORD = /[A-Za-z_@][A-Za-z0-9_@]*/y
const RANGE = /\[[ \t\r\n]*(?:-?\d+|\$)/y
const BOOLEAN = /(?:true|false)(?![A-Za-z0-9_@])/y
const ARGUMENT = /[ \t\r\n"'$\d.[{)A-Za-z_\\-]/y
const ARGUMENT_24 = /[ \t\r\n"'$\d.[{)A-Za-z_\\!(-]/y
/** a word in a call is always null, in 2.4 except for operators */
const NULL_17 = /[A-Za-z_][A-Za-z0-9_-]*/y
const NULL_24 = /(?!(?:and|or|not|eq|ne|lt|gt|le|ge)(?![A-Za-z0-9_]))[A-Za-z_][A-Za-z0-9_]*/y

const OR = /\|\||or(?![A-Za-z0-9_@])/y
const AND = /&&|and(?![A-Za-z0-9_@])/y
const EQUALITY = /==|!=|(?:eq|ne)(?![A-Za-z0-9_@])/y
const RELATION = /<=|>=|<|>|(?:lt|gt|le|ge)(?![A-Za-z0-9_@])/y
/** a minus before a digit belongs to the number */
const SUM = /\+|-(?!\d|\.\d)/y
const PRODUCT = /[*/%]/y
const NOT = /!(?!=)|not(?![A-Za-z0-9_@])/y

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ['eq', '=='],
  ['ne', '!='],
  ['lt', '<'],
  ['gt', '>'],
  ['le', '<='],
  ['ge', '>='],
  ...(['==', '!=', '<', '>', '<=', '>='] as const).map((one) => [one, one] as const),
])

export class ExpressionReader {
  readonly #cursor: Cursor
  readonly #readText: ReadText
  #isInCall = false

  constructor(cursor: Cursor, readText: ReadText) {
    this.#cursor = cursor
    this.#readText = readText
  }

  skipSpace(): void {
    this.#cursor.match(SPACE)
  }

  /** Returns undefined, without moving, when no reference begins here. */
  reference(): Reference | undefined {
    const cursor = this.#cursor
    cursor.match(LEAD)
    const begin = cursor.at
    const [opening] = cursor.match(OPENING) ?? []
    if (opening === undefined) return undefined
    return cursor.nest(() => this.#reference(begin, opening))
  }

  #reference(begin: number, opening: string): Reference {
    const cursor = this.#cursor
    const isFormal = opening.includes('{')
    const name = `${opening.split('{')[1] ?? ''}${this.#name()}`
    if (cursor.isOld && (name === 'true' || name === 'false')) {
      cursor.at -= name.length
      throw cursor.unexpected('the name of a variable')
    }
    const parts = this.#parts()
    let alternate: Expression | undefined
    if (isFormal) {
      if (!cursor.isOld && cursor.take('|')) alternate = this.expression()
      if (!cursor.take('}')) throw cursor.unexpected('"}"')
    }
    const source = cursor.slice(begin)
    return {
      kind: 'reference',
      name,
      parts,
      isQuiet: opening.startsWith('$!'),
      source,
      alternate,
      at: cursor.offset(begin),
    }
  }

  #name(): string {
    const [name] = this.#cursor.match(this.#cursor.isOld ? NAME_17 : NAME_24) ?? []
    if (name === undefined) throw this.#cursor.unexpected('a name')
    return name
  }

  #parts(): readonly Part[] {
    const cursor = this.#cursor
    const parts: Part[] = []
    for (;;) {
      const at = cursor.offset()
      if (cursor.take('[')) {
        const index = cursor.isOld ? this.#oldIndex() : this.expression()
        const isFraction = index.kind === 'literal' && typeof index.value !== 'string' && /[.eE]/.test(index.source)
        if (isFraction && typeof index.value !== 'boolean') throw cursor.fault('an index must be a whole number')
        if (!cursor.take(']')) throw cursor.unexpected('"]"')
        parts.push({ kind: 'index', index, at })
      } else if (cursor.look(cursor.isOld ? DOT_17 : DOT_24) !== null) {
        cursor.at++
        const name = this.#name()
        if (name === 'true' || name === 'false') throw cursor.fault(`"${name}" cannot be the name of a property`)
        const args = this.#arguments()
        parts.push(args === undefined ? { kind: 'property', name, at } : { kind: 'method', name, args, at })
      } else return parts
    }
  }

  #arguments(): readonly Expression[] | undefined {
    const cursor = this.#cursor
    if (cursor.peek() !== '(') return undefined
    cursor.at++
    const isCall = cursor.look(cursor.isOld ? ARGUMENT : ARGUMENT_24) !== null
    if (!isCall) {
      cursor.at--
      return undefined
    }
    const args: Expression[] = []
    if (cursor.take(')')) return args
    const wasInCall = this.#isInCall
    this.#isInCall = true
    do args.push(cursor.isOld ? this.#operand() : this.expression())
    while (cursor.take(','))
    this.#isInCall = wasInCall
    if (!cursor.take(')')) throw cursor.unexpected('"," or ")"')
    return args
  }

  #oldIndex(): Expression {
    this.skipSpace()
    const index = this.#text() ?? this.#integer() ?? this.#boolean() ?? this.reference()
    if (index === undefined) throw this.#cursor.unexpected('an index')
    this.skipSpace()
    return index
  }

  expression(): Expression {
    return this.#cursor.nest(() => this.#or())
  }

  #or(): Expression {
    return this.#binary(OR, () => this.#and(), 'or')
  }

  #and(): Expression {
    return this.#binary(AND, () => this.#equality(), 'and')
  }

  #binary(operator: RegExp, operand: () => Expression, kind: 'and' | 'or'): Expression {
    const begin = this.#cursor.at
    let left = operand()
    while (this.#cursor.match(operator) !== null) {
      left = { kind, left, right: operand(), source: this.#cursor.slice(begin) }
    }
    return left
  }

  #equality(): Expression {
    return this.#comparison(EQUALITY, () => this.#comparison(RELATION, () => this.#sum()))
  }

  #comparison(pattern: RegExp, operand: () => Expression): Expression {
    const begin = this.#cursor.at
    let left = operand()
    for (let found = this.#cursor.match(pattern); found !== null; found = this.#cursor.match(pattern)) {
      const operator = COMPARISONS.get(found[0]) ?? '=='
      left = { kind: 'compare', operator, left, right: operand(), source: this.#cursor.slice(begin) }
    }
    return left
  }

  #sum(): Expression {
    return this.#calculation(SUM, () => this.#calculation(PRODUCT, () => this.#unary()))
  }

  #calculation(pattern: RegExp, operand: () => Expression): Expression {
    const begin = this.#cursor.at
    let left = operand()
    for (let found = this.#cursor.match(pattern); found !== null; found = this.#cursor.match(pattern)) {
      const operator = found[0] as Operator
      left = { kind: 'calculate', operator, left, right: operand(), source: this.#cursor.slice(begin).trim() }
    }
    return left
  }

  #unary(): Expression {
    const cursor = this.#cursor
    this.skipSpace()
    const begin = cursor.at
    if (cursor.match(NOT) !== null) {
      const of = cursor.nest(() => this.#unary())
      return { kind: 'not', of, source: cursor.slice(begin) }
    }
    if (!cursor.isOld && cursor.look(SUM)?.[0] === '-') {
      cursor.at++
      return { kind: 'negate', of: this.#primary(), source: cursor.slice(begin) }
    }
    return this.#primary()
  }

  #primary(): Expression {
    this.skipSpace()
    if (!this.#cursor.take('(')) return this.#operand()
    const inner = this.expression()
    if (!this.#cursor.take(')')) throw this.#cursor.unexpected('")"')
    this.skipSpace()
    return inner
  }

  #operand(): Expression {
    this.skipSpace()
    const found = this.#cursor.nest(() => this.#plain())
    if (found === undefined) throw this.#cursor.unexpected('a value')
    this.skipSpace()
    return found
  }

  argument(): Expression | undefined {
    const cursor = this.#cursor
    const found = cursor.nest(() => this.#plain())
    if (found !== undefined) return found
    const [source] = cursor.match(WORD) ?? []
    return source === undefined ? undefined : { kind: 'word', source }
  }

  #plain(): Expression | undefined {
    switch (this.#cursor.peek()) {
      case '"':
      case "'":
        return this.#text()
      case '$':
      case '\\':
        return this.reference()
      case '[':
        return this.#range() ?? this.#list()
      case '{':
        return this.#map()
      default:
        return this.#integer() ?? this.#float() ?? this.#boolean() ?? this.#null()
    }
  }

  #literal(value: Value, source: string): Expression {
    return { kind: 'literal', value, source }
  }

  #boolean(): Expression | undefined {
    const [source] = this.#cursor.match(BOOLEAN) ?? []
    return source === undefined ? undefined : this.#literal(source === 'true', source)
  }

  #null(): Expression | undefined {
    if (!this.#isInCall) return undefined
    const [source] = this.#cursor.match(this.#cursor.isOld ? NULL_17 : NULL_24) ?? []
    return source === undefined ? undefined : this.#literal(null, source)
  }

  #integer(): Expression | undefined {
    const [source] = this.#cursor.match(INTEGER) ?? []
    if (source === undefined) return undefined
    if (source.length > 1_000) throw this.#cursor.fault('a number has more than 1,000 digits')
    return this.#literal(toWhole(BigInt(source)), source)
  }

  #float(): Expression | undefined {
    const [source] = this.#cursor.match(FLOAT) ?? []
    return source === undefined ? undefined : this.#literal(toDouble(Number(source)), source)
  }

  #text(): Expression | undefined {
    const cursor = this.#cursor
    const at = cursor.at
    const [source] = cursor.match(TEXT) ?? []
    if (source === undefined) {
      if (cursor.sees('"') || cursor.sees("'")) throw cursor.fault('a text is not closed')
      return undefined
    }
    const inner = source.slice(1, -1)
    if (source.startsWith("'")) return this.#literal(inner.replaceAll("''", "'"), source)
    const text = unescaped(inner, () => cursor.fault('a Unicode escape needs four digits', at)).replaceAll('""', '"')
    if (!/[$#]/.test(source)) return this.#literal(text, source)
    // 1.7 parses the text with a trailing space, then removes the last character of the result
    const drops = cursor.isOld && !text.includes('##')
    return { kind: 'template', block: this.#readText(drops ? `${text} ` : text, cursor.offset(at)), drops, source }
  }

  #range(): Expression | undefined {
    const cursor = this.#cursor
    if (cursor.look(RANGE) === null) return undefined
    const begin = cursor.at
    cursor.at++
    const from = this.#edge()
    if (from === undefined || !cursor.take('..')) {
      cursor.at = begin
      return undefined
    }
    const to = this.#edge()
    if (to === undefined || !cursor.take(']')) throw cursor.unexpected('the end of a range')
    return { kind: 'range', from, to, source: cursor.slice(begin) }
  }

  #edge(): Expression | undefined {
    this.skipSpace()
    const edge = this.reference() ?? this.#integer()
    this.skipSpace()
    return edge
  }

  #list(): Expression {
    const cursor = this.#cursor
    const begin = cursor.at
    const items: Expression[] = []
    cursor.at++
    if (!cursor.take(']')) {
      do items.push(this.#operand())
      while (cursor.take(','))
      if (!cursor.take(']')) throw cursor.unexpected('"," or "]"')
    }
    return { kind: 'list', items, source: cursor.slice(begin) }
  }

  #map(): Expression {
    const cursor = this.#cursor
    const begin = cursor.at
    const entries: (readonly [Expression, Expression])[] = []
    cursor.at++
    this.skipSpace()
    if (!cursor.take('}')) {
      do {
        const key = this.#operand()
        if (!cursor.take(':')) throw cursor.unexpected('":"')
        entries.push([key, this.#operand()])
      } while (cursor.take(','))
      if (!cursor.take('}')) throw cursor.unexpected('"," or "}"')
    }
    return { kind: 'map', entries, source: cursor.slice(begin) }
  }
}

function unescaped(text: string, wrong: () => Fault): string {
  return text.replace(/\\u(.{0,4})/gs, (_all, digits: string) => {
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw wrong()
    return String.fromCharCode(Number.parseInt(digits, 16))
  })
}
