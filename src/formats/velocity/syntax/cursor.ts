/** Tracks the current position while a template is parsed. */
import { Fault, positionOf, type Position } from '../fault.ts'
import type { Compat } from '../values/value.ts'

const MAX_DEPTH = 100

export class Cursor {
  readonly text: string
  readonly compat: Compat
  at = 0
  readonly #fixed: { readonly at: number; readonly position: Position } | undefined
  #depth = 0

  constructor(text: string, compat: Compat, fixed?: { readonly at: number; readonly position: Position }) {
    this.text = text
    this.compat = compat
    this.#fixed = fixed
  }

  get isOld(): boolean {
    return this.compat === '1.7'
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  offset(at = this.at): number {
    return this.#fixed?.at ?? at
  }

  position(at = this.at): Position {
    return this.#fixed?.position ?? positionOf(this.text, at)
  }

  peek(ahead = 0): string {
    return this.text.charAt(this.at + ahead)
  }

  sees(text: string): boolean {
    return this.text.startsWith(text, this.at)
  }

  take(text: string): boolean {
    if (!this.sees(text)) return false
    this.at += text.length
    return true
  }

  look(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    return pattern.exec(this.text)
  }

  match(pattern: RegExp): RegExpExecArray | null {
    const found = this.look(pattern)
    if (found !== null) this.at += found[0].length
    return found
  }

  slice(from: number): string {
    return this.text.slice(from, this.at)
  }

  nest<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw this.fault(`it nests deeper than ${MAX_DEPTH} levels`)
    const made = read()
    this.#depth--
    return made
  }

  unexpected(wanted: string): Fault {
    const found = this.isAtEnd
      ? 'the end of the template'
      : `"${this.text.slice(this.at, this.at + 20).split(/[\r\n]/)[0] ?? ''}"`
    return this.fault(`found ${found} where ${wanted} should be`)
  }

  fault(message: string, at = this.at): Fault {
    return new Fault('syntax', message, this.position(at))
  }
}
