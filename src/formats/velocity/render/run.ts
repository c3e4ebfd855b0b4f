/** Stores the state of one rendering. */
import { Fault } from '../fault.ts'
import type { Budget } from '../budget.ts'
import { JavaObject, type Compat, type Environment, type Value } from '../values/value.ts'
import type { JsonBuilder } from '../json/json-builder.ts'
import type { Context } from './context.ts'

export type Exec = (run: Run) => void
export type Eval = (run: Run) => Value
export type Test = (run: Run) => boolean

export interface ReadyMacro {
  readonly name: string
  readonly parameters: readonly { readonly name: string; readonly initial: Eval | undefined }[]
  readonly exec: Exec
}

export class Run implements Environment {
  readonly compat: Compat
  readonly budget: Budget
  context: Context
  readonly json: JsonBuilder | undefined
  #macros: ReadonlyMap<string, ReadyMacro>
  /** whether the macros are a copy; the template's own macros are shared by its renderings */
  #hasOwnMacros = false
  #out = ''
  at = 0
  readonly calls: string[] = []

  constructor(
    compat: Compat,
    budget: Budget,
    context: Context,
    macros: ReadonlyMap<string, ReadyMacro>,
    json?: JsonBuilder,
  ) {
    this.compat = compat
    this.budget = budget
    this.context = context
    this.#macros = macros
    this.json = json
  }

  get macros(): ReadonlyMap<string, ReadyMacro> {
    return this.#macros
  }

  /** Adds a macro for the rest of this rendering, unless the name is taken. */
  addMacro(name: string, macro: ReadyMacro): void {
    if (this.#macros.has(name)) return
    const macros = this.#hasOwnMacros ? (this.#macros as Map<string, ReadyMacro>) : new Map(this.#macros)
    this.#hasOwnMacros = true
    this.#macros = macros.set(name, macro)
  }

  write(text: string): void {
    this.budget.write(text.length)
    this.#out += text
  }

  captured(exec: Exec): string {
    const before = this.#out
    this.#out = ''
    try {
      exec(this)
      return this.#out
    } finally {
      this.#out = before
    }
  }

  whole(exec: Exec): string {
    try {
      exec(this)
    } catch (error) {
      if (!(error instanceof Leaving)) throw error
    }
    return this.#out
  }

  within(context: Context, exec: Exec): void {
    const before = this.context
    this.context = context
    try {
      exec(this)
    } finally {
      this.context = before
    }
  }
}

export class Leaving extends Fault {
  readonly target: 'nearest' | 'all' | object

  constructor(target: Leaving['target']) {
    super('failed', '#break is outside any block that it could end')
    this.target = target
  }

  isFor(owner: object): boolean {
    return this.target === 'nearest' || this.target === owner
  }
}

export class DefinedBlock extends JavaObject {
  readonly kind = 'block'
  readonly #exec: Exec
  readonly #run: Run
  readonly #context: Context
  readonly #most: number
  #depth = 0

  constructor(exec: Exec, run: Run, most: number) {
    super()
    this.#exec = exec
    this.#run = run
    this.#context = run.context
    this.#most = most
  }

  render(run: Run): boolean {
    if (this.#depth >= this.#most) return false
    this.#depth++
    try {
      this.#exec(run)
    } catch (error) {
      if (!(error instanceof Leaving) || !error.isFor(this)) throw error
    } finally {
      this.#depth--
    }
    return true
  }

  textIn(): string | null {
    let isDone = false
    const text = this.#run.captured((run) => run.within(this.#context, (inner) => (isDone = this.render(inner))))
    return isDone ? text : null
  }
}
