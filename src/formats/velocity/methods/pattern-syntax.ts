/** Compiles java.util.regex patterns to instructions of the matcher. */
import { failed } from '../fault.ts'
import { readClass, readEscape, type Fits } from './pattern-classes.ts'

export type Instruction =
  | { readonly kind: 'char'; readonly fits: Fits }
  /** preferred branch first */
  | { readonly kind: 'split'; readonly to: readonly number[] }
  | { readonly kind: 'jump'; readonly to: number }
  | { readonly kind: 'save'; readonly slot: number }
  | { readonly kind: 'assert'; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: 'match' }

type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'char'; readonly fits: Fits }
  | { readonly kind: 'assert'; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: 'all' | 'any'; readonly nodes: readonly Node[] }
  | { readonly kind: 'group'; readonly slot: number; readonly node: Node }
  | {
      readonly kind: 'repeat'
      readonly node: Node
      readonly least: number
      readonly most: number
      readonly lazy: boolean
    }

const MAX_INSTRUCTIONS = 5_000
const MAX_DEPTH = 50
/** maximum characters of a group name, including its brackets */
const MAX_NAME = 200
const WORD = /\w/
const COUNT = /\{(\d{1,4})(?:(,)(\d{0,4}))?\}/y

/** Throws a fault if the pattern is malformed or cannot be matched in linear time. */
export function parsePattern(source: string): ReadPattern {
  const reader = new PatternReader(source)
  const program: Instruction[] = []
  emit(reader.read(), program)
  program.push({ kind: 'match' })
  return { program, groups: reader.groups, names: reader.names }
}

export interface ReadPattern {
  readonly program: readonly Instruction[]
  readonly groups: number
  readonly names: ReadonlyMap<string, number>
}

class PatternReader {
  readonly #source: string
  #at = 0
  #depth = 0
  #flags = { ignoreCase: false, dotAll: false, multiline: false }
  groups = 0
  readonly names = new Map<string, number>()

  constructor(source: string) {
    this.#source = source
  }

  read(): Node {
    const node = this.#alternatives()
    if (this.#at < this.#source.length) throw this.#wrong('an unmatched closing bracket')
    return node
  }

  #alternatives(): Node {
    if (++this.#depth > MAX_DEPTH) throw this.#wrong('groups that nest too deep')
    const nodes = [this.#sequence()]
    while (this.#take('|')) nodes.push(this.#sequence())
    this.#depth--
    return nodes.length === 1 ? (nodes[0] ?? { kind: 'empty' }) : { kind: 'any', nodes }
  }

  #sequence(): Node {
    const nodes: Node[] = []
    while (this.#at < this.#source.length && !this.#isNext('|') && !this.#isNext(')')) nodes.push(this.#repeated())
    return { kind: 'all', nodes }
  }

  #repeated(): Node {
    let node = this.#atom()
    for (let bounds = this.#bounds(); bounds !== undefined; bounds = this.#bounds()) {
      const lazy = this.#take('?')
      if (!lazy && this.#take('+')) throw this.#wrong('a possessive quantifier, which is not supported')
      node = { kind: 'repeat', node, ...bounds, lazy }
    }
    return node
  }

  #bounds(): { readonly least: number; readonly most: number } | undefined {
    if (this.#take('*')) return { least: 0, most: Infinity }
    if (this.#take('+')) return { least: 1, most: Infinity }
    if (this.#take('?')) return { least: 0, most: 1 }
    if (!this.#isNext('{')) return undefined
    COUNT.lastIndex = this.#at
    const found = COUNT.exec(this.#source)
    if (found === null) throw this.#wrong('an invalid count')
    this.#at = COUNT.lastIndex
    const [, least = '0', comma, most = ''] = found
    return { least: Number(least), most: comma === undefined ? Number(least) : most === '' ? Infinity : Number(most) }
  }

  #atom(): Node {
    const char = this.#source.charAt(this.#at++)
    const { ignoreCase, dotAll, multiline } = this.#flags
    switch (char) {
      case '(':
        return this.#group()
      case '[': {
        const { fits, next } = readClass(this.#source, this.#at)
        this.#at = next
        return this.#char(fits)
      }
      case '.':
        return { kind: 'char', fits: (code) => dotAll || !isLineEnd(code) }
      case '^':
        return { kind: 'assert', holds: (text, at) => at === 0 || (multiline && isLineEnd(text.charCodeAt(at - 1))) }
      case '$':
        return {
          kind: 'assert',
          holds: (text, at) => isAtEnd(text, at) || (multiline && isLineEnd(text.charCodeAt(at))),
        }
      case '\\':
        return this.#escape()
      case '*':
      case '+':
      case '?':
        throw this.#wrong(`a dangling "${char}"`)
      default: {
        const code = char.charCodeAt(0)
        return this.#char((other) => other === code || (ignoreCase && sameLetter(other, code)))
      }
    }
  }

  #char(fits: Fits): Node {
    const { ignoreCase } = this.#flags
    return { kind: 'char', fits: ignoreCase ? (code) => fits(code) || fits(otherCase(code)) : fits }
  }

  #escape(): Node {
    const char = this.#source.charAt(this.#at)
    if (char === '') throw this.#wrong('a trailing backslash')
    if (char >= '1' && char <= '9') throw this.#wrong('a back reference, which is not supported')
    this.#at++
    const isEdge = (text: string, at: number): boolean => WORD.test(text.charAt(at - 1)) !== WORD.test(text.charAt(at))
    if (char === 'b') return { kind: 'assert', holds: isEdge }
    if (char === 'B') return { kind: 'assert', holds: (text, at) => !isEdge(text, at) }
    if (char === 'A') return { kind: 'assert', holds: (_text, at) => at === 0 }
    if (char === 'z') return { kind: 'assert', holds: (text, at) => at === text.length }
    if (char === 'Z') return { kind: 'assert', holds: isAtEnd }
    if (char === 'Q') return this.#quoted()
    const { fits, next } = readEscape(this.#source, this.#at - 1)
    this.#at = next
    return this.#char(fits)
  }

  #quoted(): Node {
    const end = this.#source.indexOf('\\E', this.#at)
    const text = this.#source.slice(this.#at, end < 0 ? undefined : end)
    this.#at = end < 0 ? this.#source.length : end + 2
    const nodes = Array.from(text.split(''), (char): Node => this.#char((code) => code === char.charCodeAt(0)))
    return { kind: 'all', nodes }
  }

  #group(): Node {
    const before = this.#flags
    let slot: number | undefined
    const [opening, name] = /^\?<([A-Za-z][A-Za-z0-9]*)>/.exec(this.#source.slice(this.#at, this.#at + MAX_NAME)) ?? []
    if (opening !== undefined && name !== undefined) {
      if (this.names.has(name)) throw this.#wrong(`two groups named "${name}"`)
      this.names.set(name, (slot = ++this.groups))
      this.#at += opening.length
    } else if (this.#take('?')) {
      const [, on = '', off = '', end = ''] = /^([ims]*)(?:-([ims]+))?([:)])/.exec(this.#source.slice(this.#at)) ?? []
      if (end === '') throw this.#wrong('a kind of group that is not supported')
      this.#at += on.length + (off === '' ? 0 : off.length + 1) + 1
      this.#flags = flagsOf(before, on, off)
      // applies to the rest of the surrounding group
      if (end === ')') return { kind: 'empty' }
    } else slot = ++this.groups
    const node = this.#alternatives()
    if (!this.#take(')')) throw this.#wrong('a group that is not closed')
    this.#flags = before
    return slot === undefined ? node : { kind: 'group', slot, node }
  }

  #isNext(char: string): boolean {
    return this.#source.charAt(this.#at) === char
  }

  #take(char: string): boolean {
    if (!this.#isNext(char)) return false
    this.#at++
    return true
  }

  #wrong(what: string): Error {
    return failed(`the pattern "${this.#source.slice(0, 80)}" has ${what} at ${this.#at}`)
  }
}

interface Flags {
  readonly ignoreCase: boolean
  readonly dotAll: boolean
  readonly multiline: boolean
}

function flagsOf(before: Flags, on: string, off: string): Flags {
  const set = (flag: string, was: boolean): boolean => !off.includes(flag) && (was || on.includes(flag))
  return {
    ignoreCase: set('i', before.ignoreCase),
    dotAll: set('s', before.dotAll),
    multiline: set('m', before.multiline),
  }
}

function emit(node: Node, program: Instruction[]): void {
  if (program.length > MAX_INSTRUCTIONS) throw failed('a pattern is too long')
  switch (node.kind) {
    case 'empty':
      return
    case 'char':
    case 'assert':
      program.push(node)
      return
    case 'all':
      for (const one of node.nodes) emit(one, program)
      return
    case 'group':
      program.push({ kind: 'save', slot: 2 * node.slot })
      emit(node.node, program)
      program.push({ kind: 'save', slot: 2 * node.slot + 1 })
      return
    case 'any':
      return emitAny(node.nodes, program)
    case 'repeat':
      return emitRepeat(node, program)
  }
}

function emitAny(nodes: readonly Node[], program: Instruction[]): void {
  const split = program.push({ kind: 'match' }) - 1
  const to: number[] = []
  const ends: number[] = []
  for (const node of nodes) {
    to.push(program.length)
    emit(node, program)
    ends.push(program.push({ kind: 'match' }) - 1)
  }
  program[split] = { kind: 'split', to }
  for (const end of ends) program[end] = { kind: 'jump', to: program.length }
}

function emitRepeat({ node, least, most, lazy }: Extract<Node, { kind: 'repeat' }>, program: Instruction[]): void {
  const splitTo = (into: number, past: number): Instruction => ({
    kind: 'split',
    to: lazy ? [past, into] : [into, past],
  })
  for (let i = 0; i < least; i++) emit(node, program)
  if (most === Infinity) {
    const split = program.push({ kind: 'match' }) - 1
    emit(node, program)
    program.push({ kind: 'jump', to: split })
    program[split] = splitTo(split + 1, program.length)
    return
  }
  const splits: number[] = []
  for (let i = least; i < most; i++) {
    splits.push(program.push({ kind: 'match' }) - 1)
    emit(node, program)
  }
  for (const split of splits) program[split] = splitTo(split + 1, program.length)
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13 || code === 0x85 || code === 0x2028 || code === 0x2029
}

function isAtEnd(text: string, at: number): boolean {
  return (
    at === text.length ||
    (at === text.length - 1 && isLineEnd(text.charCodeAt(at))) ||
    (at === text.length - 2 && text.endsWith('\r\n'))
  )
}

/** Handles ASCII only, which is Java's default. */
function otherCase(code: number): number {
  const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
  return isLetter ? code ^ 32 : code
}

function sameLetter(a: number, b: number): boolean {
  return otherCase(a) === b
}
