/**
 * Parses a template: text, references, directives, and the white space that directives consume.
 *
 * In 1.7 a directive consumes the end of its line when nothing else follows; `#set` also consumes the preceding blanks
 * unless other text precedes them. In 2.4 a directive alone on its line consumes the whole line; `isFresh` tracks
 * whether a line has just begun.
 */
import type { Compat } from '../values/value.ts'
import { Cursor } from './cursor.ts'
import { ExpressionReader } from './expressions.ts'
import type { Block, Expression, Macro, Reference, Statement, Template } from './nodes.ts'
import { DIRECTIVES, isDirective, SET, SET_OLD, WORD, WORD_24, type Ending } from './words.ts'
import type { Position } from '../fault.ts'

const RUN = /[^$#\\]+/y
const SLASHES = /\\+/y
const BLANKS = /[ \t]+/y
const LINE_END = /[ \t]*(?:\r\n|\r|\n)/y
const LINE_COMMENT = /##[^\r\n]*(?:\r\n|\r|\n)?/y
/** an unclosed comment extends to the end */
const BLOCK_COMMENT = /#\*(?:[^]*?\*#|[^]*$)/y
const VERBATIM = /#\[\[([^]*?)\]\]#/y
const PARENTHESIS = /[ \t\r\n]*\(/y
/** `$` with backslashes before an exclamation mark; the output depends on what follows */
const ESCAPED_QUIET = /\$(\\+)!/y
const NAMED = /\{?[A-Za-z_]/y
const WHOLE_17 = /[[{]/y
const WHOLE_24 = /[[{#\r\n]|$/y
/** 1.7 rejects these two at the end of a template */
const LAST_DOLLAR = /\${1,64}(?:\\*!)?$/y
const LOST_MARK = /!(?=[^{[])/y
/** dropped directly before these */
const LOST_DOLLAR = /\$(?=#\*)/y
const LOST_DOLLAR_OLD = /\$(?=#(?:\*|(?:if|else|elseif|end)(?![A-Za-z0-9_@]))|[ \t]*#(?:set|\{set\}) *\()/y
const NUMBER = /-?\d+(?:\.\d*)?/y
const SET_BEHIND = /[ \t]+#(?:set|\{set\}) *\(/y
const LAST_HASH = /#\*?$/y
const REFERENCE = /\$!?(?:\{(?:\$!?){0,8})?[A-Za-z_]/y
/** dollars before the dollar of a reference, which are text */
const DOLLAR_RUN = /\$+(?=\$)/y
const DOLLARS = /(?:\$!?\\*){1,16}(?=\$!?(?:\{(?:\$!?){0,8})?[A-Za-z_])/y

const KINDS: ReadonlySet<string> = new Set(['if', 'else', 'elseif', 'end'])

interface Read {
  readonly block: Block
  readonly ending: Ending | undefined
  readonly isFresh: boolean
}

export function parseTemplate(
  text: string,
  compat: Compat,
  fixed?: { readonly at: number; readonly position: Position },
): Template {
  const reader = new StatementReader(new Cursor(text, compat, fixed), new Map())
  return { block: reader.all(), macros: reader.macros }
}

class StatementReader {
  readonly #cursor: Cursor
  readonly #expressions: ExpressionReader
  readonly macros: Map<string, Macro>

  constructor(cursor: Cursor, macros: Map<string, Macro>) {
    this.#cursor = cursor
    this.macros = macros
    this.#expressions = new ExpressionReader(cursor, (text, at) => {
      const inner = new Cursor(text, cursor.compat, { at, position: cursor.position(at) })
      return cursor.nest(() => new StatementReader(inner, macros).all())
    })
  }

  all(): Block {
    const { block, ending } = this.#block(true, true)
    if (ending !== undefined) throw this.#cursor.fault(`#${ending} has no matching block`)
    return block
  }

  #block(isFresh: boolean, isWhole = false): Read {
    return this.#cursor.nest(() => {
      const statements: Statement[] = []
      let fresh = isFresh
      for (;;) {
        const ending = this.#ending(fresh)
        if (ending !== undefined) return { block: joinTexts(statements), ending, isFresh: fresh }
        if (this.#cursor.isAtEnd) {
          if (!isWhole) throw this.#cursor.fault('a directive is not ended: #end is missing')
          return { block: joinTexts(statements), ending: undefined, isFresh: fresh }
        }
        fresh = this.#statement(statements, fresh)
      }
    })
  }

  #ending(isFresh: boolean): Ending | undefined {
    const cursor = this.#cursor
    const begin = cursor.at
    if (!cursor.isOld && isFresh) cursor.match(BLANKS)
    const name = this.#wordHere()
    if (name === 'end' || name === 'else' || name === 'elseif') return name
    cursor.at = begin
    return undefined
  }

  #wordHere(): string | undefined {
    const [, plain, braced] = this.#cursor.look(this.#cursor.isOld ? WORD : WORD_24) ?? []
    return plain ?? braced
  }

  #statement(into: Statement[], isFresh: boolean): boolean {
    const cursor = this.#cursor
    const [run] = cursor.look(RUN) ?? []
    if (run !== undefined) return this.#text(into, run, isFresh)
    if (cursor.sees('\\')) return this.#slashes(into)
    return cursor.sees('$') ? this.#dollar(into, 0) : this.#hash(into, isFresh)
  }

  #text(into: Statement[], run: string, isFresh: boolean): boolean {
    const cursor = this.#cursor
    const begin = cursor.at
    cursor.at += run.length
    if (cursor.isOld) {
      if (/^[ \t]+$/.test(run) && cursor.look(SET_OLD) !== null) return false
      into.push({ kind: 'text', text: run })
      return false
    }
    const [blanks = ''] = /[ \t]*$/.exec(run) ?? []
    const kept = run.slice(0, run.length - blanks.length)
    const isLineBegin = kept === '' ? isFresh : /[\r\n]$/.test(kept)
    if (blanks !== '' && isLineBegin && this.#wordHere() !== undefined) {
      if (kept !== '') into.push({ kind: 'text', text: kept })
      if (kept === '') return this.#directive(into, true, begin)
      cursor.at = begin + kept.length
      return true
    }
    into.push({ kind: 'text', text: run })
    return blanks === '' && isLineBegin
  }

  #slashes(into: Statement[]): boolean {
    const cursor = this.#cursor
    const [slashes = ''] = cursor.match(SLASHES) ?? []
    const count = slashes.length
    if (cursor.sees('$')) return this.#dollar(into, count)
    const begin = cursor.at
    const name = this.#wordHere()
    if (name === undefined) {
      into.push({ kind: 'text', text: slashes })
      return false
    }
    const isKnown = isDirective(name) || this.macros.has(name)
    if (count % 2 === 1) {
      cursor.match(cursor.isOld ? WORD : WORD_24)
      const shown = isKnown ? slashes.slice(0, (count - 1) / 2) : slashes
      into.push({ kind: 'text', text: shown + cursor.slice(begin) })
      return false
    }
    const isBraced = cursor.peek(1) === '{'
    const isHalved = KINDS.has(name) || (isKnown && name !== 'set' && !isBraced)
    into.push({ kind: 'text', text: isHalved ? slashes.slice(0, count / 2) : slashes })
    return false
  }

  #dollar(into: Statement[], slashes: number): boolean {
    const cursor = this.#cursor
    const [dollars = ''] = cursor.match(DOLLARS) ?? []
    if (slashes === 0 && dollars !== '') into.push({ kind: 'text', text: dollars })
    if (cursor.look(REFERENCE) !== null) {
      const reference = this.#expressions.reference()
      if (reference !== undefined)
        into.push({ kind: 'output', reference, slashes, dollars: slashes === 0 ? '' : dollars })
      if (cursor.isOld && reference !== undefined) this.#afterProperty(into, reference)
      return false
    }
    if (cursor.isOld && cursor.look(LAST_DOLLAR) !== null) throw cursor.fault('the template ends with "$"')
    if (cursor.match(cursor.isOld ? LOST_DOLLAR_OLD : LOST_DOLLAR) !== null) return false
    const [found, escapes = ''] = cursor.match(ESCAPED_QUIET) ?? []
    const shown =
      found === undefined ? (cursor.look(DOLLAR_RUN)?.[0] ?? cursor.peek()) : this.#escapedQuiet(found, escapes)
    if (found === undefined) cursor.at += shown.length
    // a mark without a name is dropped
    if (found === undefined && cursor.look(LOST_MARK) !== null) cursor.at++
    into.push({ kind: 'text', text: '\\'.repeat(slashes) + shown })
    return false
  }

  #escapedQuiet(found: string, escapes: string): string {
    const cursor = this.#cursor
    if (cursor.look(NAMED) !== null) return `$${escapes.slice(1)}!`
    return cursor.look(cursor.isOld ? WHOLE_17 : WHOLE_24) === null ? '$' : found
  }

  /** 1.7 has no comments here: `##` is text, or loses its first mark before a directive. */
  #afterProperty(into: Statement[], { parts, source }: Reference): void {
    const cursor = this.#cursor
    if (parts.at(-1)?.kind !== 'property' || source.endsWith('}') || !cursor.sees('##')) return
    cursor.at++
    if (KINDS.has(this.#wordHere() ?? '') || cursor.look(SET_OLD) !== null) return
    cursor.at++
    into.push({ kind: 'text', text: '##' })
  }

  #hash(into: Statement[], isFresh: boolean): boolean {
    const cursor = this.#cursor
    if (cursor.match(LINE_COMMENT) !== null) return true
    const verbatim = cursor.match(VERBATIM)
    if (verbatim !== null) {
      into.push({ kind: 'text', text: verbatim[1] ?? '' })
      return false
    }
    if (cursor.isOld && cursor.look(LAST_HASH) !== null) throw cursor.fault('the template ends with "#"')
    if (cursor.match(BLOCK_COMMENT) !== null) return false
    if (cursor.sees('#[[')) throw cursor.fault('a verbatim text is not closed: "]]#" is missing')
    if (this.#wordHere() !== undefined) return this.#directive(into, isFresh, cursor.at)
    cursor.at++
    const isLost = cursor.isOld && cursor.look(SET_BEHIND) !== null
    // a number directly after it ends there, so that later blanks belong to a directive
    const [number = ''] = cursor.match(NUMBER) ?? []
    if (!isLost) into.push({ kind: 'text', text: `#${number}` })
    return false
  }

  #directive(into: Statement[], isFresh: boolean, begin: number): boolean {
    const cursor = this.#cursor
    const at = cursor.offset()
    if (cursor.match(cursor.isOld ? SET_OLD : SET) !== null) return this.#set(into, isFresh, at)
    const hash = cursor.at
    const name = this.#wordHere() ?? ''
    cursor.match(cursor.isOld ? WORD : WORD_24)
    if (name === 'if') return this.#if(into, isFresh, at)
    if (name === 'end' || name === 'else' || name === 'elseif') {
      throw cursor.fault(`#${name} has no matching block`, hash)
    }
    return this.#named(into, name, { isFresh, begin, hash, at })
  }

  #set(into: Statement[], isFresh: boolean, at: number): boolean {
    const cursor = this.#cursor
    this.#expressions.skipSpace()
    const target = this.#expressions.reference()
    if (target === undefined) throw cursor.unexpected('the variable of #set')
    this.#expressions.skipSpace()
    if (!cursor.take('=') || cursor.sees('=')) throw cursor.unexpected('"="')
    const value = this.#expressions.expression()
    if (!cursor.take(')')) throw cursor.unexpected('")"')
    // 1.7 includes braces and marks in the name, which no reference can then read
    const isNamed = !cursor.isOld || target.parts.length > 0 || /^\$[A-Za-z_]/.test(target.source)
    into.push({ kind: 'set', target: isNamed ? target : { ...target, name: target.source.slice(1) }, value, at })
    return this.#lineEnd(isFresh)
  }

  #lineEnd(isFresh: boolean): boolean {
    if (!this.#cursor.isOld && !isFresh) return false
    return this.#cursor.match(LINE_END) !== null
  }

  #if(into: Statement[], isFresh: boolean, at: number): boolean {
    const cursor = this.#cursor
    const branches: { test: Expression; block: Block }[] = []
    let otherwise: Block | undefined
    let fresh = isFresh
    for (let ending: Ending | 'if' | undefined = 'if'; ending !== 'end';) {
      const test = ending === 'else' ? undefined : this.#test(ending ?? 'if')
      if (cursor.match(LINE_END) !== null) fresh = true
      const read = this.#block(fresh)
      if (test === undefined) otherwise = read.block
      else branches.push({ test, block: read.block })
      fresh = read.isFresh
      ending = read.ending
      const keywordAt = cursor.at
      cursor.match(cursor.isOld ? WORD : WORD_24)
      if (otherwise !== undefined && ending !== 'end')
        throw cursor.fault(`#${ending ?? ''} comes after #else`, keywordAt)
    }
    into.push({ kind: 'if', branches, otherwise, at })
    return this.#lineEnd(isFresh)
  }

  #test(name: string): Expression {
    const cursor = this.#cursor
    if (cursor.match(PARENTHESIS) === null) throw cursor.unexpected(`"(" of #${name}`)
    const test = this.#expressions.expression()
    if (!cursor.take(')')) throw cursor.unexpected('")"')
    return test
  }

  #named(into: Statement[], name: string, from: Begun): boolean {
    const cursor = this.#cursor
    const isBlock = name === 'foreach' || name === 'define' || name === 'macro' || name.startsWith('@')
    const hasArguments = cursor.match(PARENTHESIS) !== null
    if (name === 'macro' && !hasArguments) throw cursor.fault('#macro needs a name in brackets')
    if (name === 'macro') return this.#macro(from)
    const args = hasArguments ? this.#arguments() : []
    if (isBlock && (hasArguments || DIRECTIVES.has(name) || !cursor.isOld)) return this.#blockOf(into, name, args, from)
    // 1.7 consumes the end of the line after the bracket, 2.4 when the directive began the line
    const isFresh = cursor.isOld ? hasArguments && this.#lineEnd(true) : this.#lineEnd(from.isFresh)
    into.push(this.#line(name, args, from))
    return isFresh
  }

  #line(name: string, args: readonly Expression[], { begin, hash, at }: Begun): Statement {
    const cursor = this.#cursor
    if (DIRECTIVES.has(name) && args.some(({ kind }) => kind === 'word'))
      throw cursor.fault(`#${name} does not accept words`, hash)
    if (name === 'stop') return { kind: 'stop' }
    if (name === 'break') return { kind: 'break', scope: args[0], at }
    if (name === 'include' || name === 'parse') return { kind: 'refused', message: `#${name} is not supported`, at }
    if (name !== 'evaluate') return { kind: 'call', name, args, body: undefined, source: cursor.slice(begin), at }
    const [text] = args
    const isText =
      text?.kind === 'reference' ||
      text?.kind === 'template' ||
      (text?.kind === 'literal' && typeof text.value === 'string')
    if (args.length !== 1 || text === undefined || !isText)
      throw cursor.fault('#evaluate needs one text or reference', hash)
    return { kind: 'evaluate', text, at }
  }

  #arguments(): readonly Expression[] {
    const cursor = this.#cursor
    const args: Expression[] = []
    for (;;) {
      this.#expressions.skipSpace()
      if (cursor.take(')')) return args
      if (cursor.take(',')) this.#expressions.skipSpace()
      const arg = this.#expressions.argument()
      if (arg === undefined) throw cursor.unexpected('an argument or ")"')
      args.push(arg)
    }
  }

  #blockOf(into: Statement[], name: string, args: readonly Expression[], from: Begun): boolean {
    const cursor = this.#cursor
    cursor.match(LINE_END)
    const began = cursor.isOld ? false : cursor.at > 0 && /[\r\n]/.test(cursor.text.charAt(cursor.at - 1))
    const read = this.#block(began)
    let otherwise: Read | undefined
    if (read.ending === 'else' && name === 'foreach' && !cursor.isOld) {
      cursor.match(WORD_24)
      otherwise = this.#block(cursor.match(LINE_END) !== null || read.isFresh)
    }
    const { ending } = otherwise ?? read
    if (ending !== 'end') throw cursor.fault(`#${ending ?? ''} has no matching block`)
    cursor.match(cursor.isOld ? WORD : WORD_24)
    const isFresh = this.#lineEnd(from.isFresh)
    into.push(this.#withBlock(name, args, read.block, otherwise?.block, from))
    return isFresh
  }

  #withBlock(
    name: string,
    args: readonly Expression[],
    block: Block,
    otherwise: Block | undefined,
    from: Begun,
  ): Statement {
    const cursor = this.#cursor
    const { at, hash, begin } = from
    const [first, second, third] = args
    if (name === 'foreach') {
      const isWell =
        first?.kind === 'reference' && second?.kind === 'word' && third !== undefined && third.kind !== 'word'
      if (!isWell) throw cursor.fault('#foreach needs a variable, "in" and a list', hash)
      const position = (): Position => cursor.position(hash)
      return { kind: 'foreach', variable: first.name, items: third, block, otherwise, at, position }
    }
    if (name === 'define') {
      if (first?.kind !== 'reference' || args.length > 1) throw cursor.fault('#define needs one variable', hash)
      return { kind: 'define', name: first.name, block, at }
    }
    return { kind: 'call', name: name.slice(1), args, body: block, source: cursor.slice(begin), at }
  }

  #macro(from: Begun): boolean {
    const cursor = this.#cursor
    this.#expressions.skipSpace()
    const first = this.#expressions.argument()
    if (first?.kind !== 'word') throw cursor.fault('#macro needs a name first', from.hash)
    const parameters: Macro['parameters'][number][] = []
    for (;;) {
      this.#expressions.skipSpace()
      if (cursor.take(')')) break
      if (cursor.take(',')) this.#expressions.skipSpace()
      if (!cursor.isOld && cursor.match(LINE_COMMENT) !== null) continue
      parameters.push(this.#parameter(parameters.at(-1)?.initial !== undefined))
    }
    cursor.match(LINE_END)
    const began = !cursor.isOld && /[\r\n]/.test(cursor.text.charAt(cursor.at - 1))
    const { block, ending } = this.#block(began)
    if (ending !== 'end') throw cursor.fault(`#${ending ?? ''} has no matching block`)
    cursor.match(cursor.isOld ? WORD : WORD_24)
    const name = first.source
    // the first definition wins
    if (!this.macros.has(name)) this.macros.set(name, { name, parameters, block })
    return this.#lineEnd(from.isFresh)
  }

  #parameter(isOptional: boolean): Macro['parameters'][number] {
    const cursor = this.#cursor
    const begin = cursor.at
    const parameter: Reference | Expression | undefined = this.#expressions.argument()
    if (parameter?.kind === 'word' && !cursor.isOld)
      throw cursor.fault('a parameter of a macro must be a variable', begin)
    if (parameter?.kind === 'word') throw cursor.fault('a parameter of a macro must be a variable', begin)
    if (parameter === undefined) throw cursor.unexpected('a parameter or ")"')
    if (parameter.kind !== 'reference') throw cursor.fault('a parameter of a macro must be a variable', begin)
    const space = cursor.at
    this.#expressions.skipSpace()
    if (cursor.isOld || !cursor.take('=')) {
      cursor.at = space
      if (isOptional) throw cursor.fault('a parameter without a default follows one with a default', begin)
      return { name: parameter.name, initial: undefined }
    }
    this.#expressions.skipSpace()
    const initial = this.#expressions.argument()
    if (initial === undefined) throw cursor.unexpected('a value')
    return { name: parameter.name, initial }
  }
}

interface Begun {
  readonly isFresh: boolean
  readonly begin: number
  readonly hash: number
  readonly at: number
}

function joinTexts(statements: readonly Statement[]): Block {
  const joined: Statement[] = []
  for (const one of statements) {
    const last = joined.at(-1)
    if (one.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { kind: 'text', text: last.text + one.text }
    else joined.push(one)
  }
  return joined
}
