/** Builds the value of a JSON text from the text's parts, without joining them. */
import { FORBIDDEN_KEYS } from '#kernel'
import { numberText } from '../values/numbers.ts'
import { NotDirect, TOKEN, type Token } from './tokens.ts'

/** Parses a whole text, or throws. `levels`: maximum nesting. */
export type ReadJson = (text: string, levels: number) => unknown

export interface JsonLimits {
  readonly characters: number
  readonly levels: number
}

type Container = unknown[] | Record<string, unknown>
/** The next expected part. `first`: the list or object has just begun, so it may also end. */
type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'next'

const NUMBER_CHARACTERS = 32
const BARE = /^[\w.+-]*$/
/** integers with more digits may be inexact */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?(?:[eE][+-]?\d{1,4})?$/
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
])
const ESCAPED = /["\\\u0000-\u001f]/

/** Throws `NotDirect` for anything that may not be JSON, so that the rendered text decides. */
export class JsonBuilder {
  readonly #limits: JsonLimits
  readonly #read: ReadJson
  readonly #open: Container[] = []
  #list: unknown[] | undefined
  #object: Record<string, unknown> | undefined
  #key = ''
  #expected: Expected = 'value'
  #root: unknown
  #bare: string | number | boolean | undefined
  #text = ''
  #plain = ''
  #characters = 0

  constructor(limits: JsonLimits, read: ReadJson) {
    this.#limits = limits
    this.#read = read
  }

  take(tokens: readonly Token[], characters: number): void {
    this.#count(characters)
    for (let i = 0; i < tokens.length; i++) this.#token(tokens[i] as Token)
  }

  within(text: string): void {
    this.#count(text.length)
    if (text !== this.#plain) {
      if (ESCAPED.test(text)) throw new NotDirect()
      this.#plain = text
    }
    this.#text += text
  }

  number(value: number): void {
    this.#count(NUMBER_CHARACTERS)
    if (this.#bare === undefined) this.#bare = value
    else this.#bare = bareText(this.#bare) + numberText(value)
  }

  bool(value: boolean): void {
    if (this.#bare === undefined) this.#bare = value
    else this.bare(String(value))
  }

  any(text: string): void {
    this.#count(text.length)
    if (BARE.test(text)) return this.bare(text)
    if (this.#bare !== undefined) throw new NotDirect()
    this.#value(this.#whole(text))
  }

  bare(text: string): void {
    if (text === '') return
    this.#bare = this.#bare === undefined ? text : bareText(this.#bare) + text
  }

  end(): unknown {
    if (this.#bare !== undefined) this.#endBare()
    if (this.#expected !== 'next' || this.#open.length > 0) throw new NotDirect()
    return this.#root
  }

  #token({ kind, text }: Token): void {
    if (kind === TOKEN.bare) return this.bare(text)
    if (this.#bare !== undefined) this.#endBare()
    switch (kind) {
      case TOKEN.member:
        return this.#member(text)
      case TOKEN.comma:
        return this.#comma()
      case TOKEN.begin:
        this.#text = text
        return
      case TOKEN.middle:
        this.#text += text
        return
      case TOKEN.end:
        return this.#string(this.#text + text)
      case TOKEN.string:
        return this.#string(text)
      case TOKEN.openObject:
        return this.#beginObject()
      case TOKEN.openList:
        return this.#beginList()
      case TOKEN.closeObject:
        return this.#end(this.#object, 'first key')
      case TOKEN.closeList:
        return this.#end(this.#list, 'first value')
      case TOKEN.colon:
        if (this.#expected !== 'colon') throw new NotDirect()
        this.#expected = 'value'
        return
      case TOKEN.space:
    }
  }

  #member(key: string): void {
    if (this.#expected !== 'key' && this.#expected !== 'first key') throw new NotDirect()
    this.#key = key
    this.#expected = 'value'
  }

  #comma(): void {
    if (this.#expected !== 'next' || this.#open.length === 0) throw new NotDirect()
    this.#expected = this.#object === undefined ? 'value' : 'key'
  }

  #count(characters: number): void {
    this.#characters += characters
    if (this.#characters > this.#limits.characters) throw new NotDirect()
  }

  #whole(text: string): unknown {
    try {
      return this.#read(text, this.#limits.levels - this.#open.length)
    } catch {
      throw new NotDirect()
    }
  }

  #endBare(): void {
    const bare = this.#bare
    this.#bare = undefined
    this.#value(typeof bare === 'boolean' ? bare : typeof bare === 'number' ? numberOf(bare) : wordOf(bare ?? ''))
  }

  #string(text: string): void {
    if (this.#expected !== 'key' && this.#expected !== 'first key') return this.#value(text)
    if (FORBIDDEN_KEYS.has(text)) throw new NotDirect()
    this.#key = text
    this.#expected = 'colon'
  }

  #value(value: unknown): void {
    if (this.#expected !== 'value' && this.#expected !== 'first value') throw new NotDirect()
    this.#expected = 'next'
    if (this.#object !== undefined) this.#object[this.#key] = value
    else if (this.#list !== undefined) this.#list.push(value)
    else this.#root = value
  }

  #beginObject(): void {
    const object = {}
    this.#begin(object)
    this.#object = object
    this.#list = undefined
    this.#expected = 'first key'
  }

  #beginList(): void {
    const list: unknown[] = []
    this.#begin(list)
    this.#object = undefined
    this.#list = list
    this.#expected = 'first value'
  }

  #begin(container: Container): void {
    if (this.#open.length >= this.#limits.levels) throw new NotDirect()
    this.#value(container)
    this.#open.push(container)
  }

  #end(container: Container | undefined, empty: Expected): void {
    if (container === undefined || (this.#expected !== 'next' && this.#expected !== empty)) throw new NotDirect()
    this.#open.pop()
    this.#expected = 'next'
    const outer = this.#open.at(-1)
    this.#list = Array.isArray(outer) ? outer : undefined
    this.#object = Array.isArray(outer) ? undefined : outer
  }
}

function bareText(bare: string | number | boolean): string {
  return typeof bare === 'number' ? numberText(bare) : String(bare)
}

function numberOf(value: number): number {
  if (Number.isSafeInteger(value)) return value
  if (!Number.isFinite(value) || Number.isInteger(value)) throw new NotDirect()
  return value
}

function wordOf(text: string): unknown {
  if (NUMBER.test(text)) {
    const number = Number(text)
    if (Number.isFinite(number)) return number
  }
  const word = WORDS.get(text)
  if (word === undefined) throw new NotDirect()
  return word
}
