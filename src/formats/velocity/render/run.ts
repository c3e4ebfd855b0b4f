/** Stores the state of one rendering. */
import type { Budget } from '../budget.ts'
import { Fault } from '../fault.ts'
import type { JsonBuilder } from '../json/json-builder.ts'
import { JavaList } from '../values/collections.ts'
import { JavaMap } from '../values/map.ts'
import { fromJsonNumber } from '../values/numbers.ts'
import { type Compat, type Environment, JavaObject, type Value } from '../values/value.ts'

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

/** Stores the variables of a rendering. */
export interface Context {
  get(name: string): Value
  has(name: string): boolean
  set(name: string, value: Value): void
  remove(name: string): void
  written(name: string): string | undefined
}

/** below this number, a scan is faster than a map */
const FEW = 8

export class RootContext implements Context {
  readonly #variables: JavaMap
  /** names of all variables once one is set, unordered */
  #names: string[] | undefined
  #values: Value[] = NO_VALUES
  #map: Map<string, Value> | undefined

  constructor(variables: Readonly<Record<string, unknown>>) {
    this.#variables = new JavaMap(variables, fromJson)
  }

  get(name: string): Value {
    const names = this.#names
    if (names === undefined) return this.#variables.get(name)
    if (this.#map !== undefined) return this.#map.get(name) ?? null
    for (let i = 0; i < names.length; i++) if (names[i] === name) return this.#values[i] ?? null
    return null
  }

  has(name: string): boolean {
    return this.#map?.has(name) ?? this.#names?.includes(name) ?? this.#variables.has(name)
  }

  set(name: string, value: Value): void {
    const names = this.#ownNames()
    if (this.#map !== undefined) {
      this.#map.set(name, value)
      return
    }
    let i = 0
    while (i < names.length && names[i] !== name) i++
    names[i] = name
    this.#values[i] = value
    if (names.length > FEW) this.#toMap(names)
  }

  remove(name: string): void {
    if (!this.has(name)) return
    const names = this.#ownNames()
    if (this.#map !== undefined) {
      this.#map.delete(name)
      return
    }
    const i = names.indexOf(name)
    // order does not matter, so the last variable fills the gap
    const lastName = names.pop()
    const last = this.#values.pop() ?? null
    if (lastName === undefined || lastName === name) return
    names[i] = lastName
    this.#values[i] = last
  }

  written(): undefined {
    return undefined
  }

  #ownNames(): string[] {
    if (this.#names !== undefined) return this.#names
    const names = this.#variables.names()
    this.#values = names.map((name) => this.#variables.get(name))
    this.#names = names
    if (names.length > FEW) this.#toMap(names)
    return names
  }

  #toMap(names: readonly string[]): void {
    this.#map = new Map(names.map((name, i) => [name, this.#values[i] ?? null]))
  }
}

const NO_VALUES: Value[] = []

export interface Argument {
  readonly name: string
  readonly value: () => Value
  readonly source: string
}

/** Scope of a 1.7 macro. Arguments are evaluated by name, and assignments also apply outside the macro. */
export class MacroContext implements Context {
  readonly #outer: Context
  #arguments: readonly Argument[]
  #locals: Map<string, Value> | undefined

  constructor(outer: Context, args: readonly Argument[]) {
    this.#outer = outer
    this.#arguments = args
  }

  setLocal(name: string, value: Value): void {
    this.#locals ??= new Map()
    this.#locals.set(name, value)
  }

  get(name: string): Value {
    const local = this.#locals?.get(name)
    if (local !== undefined && local !== null) return local
    for (const argument of this.#arguments) if (argument.name === name) return argument.value()
    return this.#outer.get(name)
  }

  has(name: string): boolean {
    return this.#locals?.has(name) === true || this.#arguments.some((one) => one.name === name) || this.#outer.has(name)
  }

  set(name: string, value: Value): void {
    this.setLocal(name, value)
    this.#outer.set(name, value)
  }

  remove(name: string): void {
    this.#locals?.delete(name)
    this.#arguments = this.#arguments.filter((argument) => argument.name !== name)
    this.#outer.remove(name)
  }

  written(reference: string): string | undefined {
    for (const { name, source } of this.#arguments) if (reference === `$${name}`) return source
    return this.#outer.written(reference)
  }
}

/** Lazily, without changing the input. Integers may be bigints, and objects Maps, which keep any key order. */
function fromJson(json: unknown): Value {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'number') return fromJsonNumber(json)
  if (typeof json === 'bigint') return json
  if (json === null || json === undefined || typeof json !== 'object') return null
  if (json instanceof JavaObject) return json
  if (json instanceof Map) return mapOf(json as ReadonlyMap<string, unknown>)
  return Array.isArray(json)
    ? new JavaList(json, fromJson)
    : new JavaMap(json as Readonly<Record<string, unknown>>, fromJson)
}

function mapOf(json: ReadonlyMap<string, unknown>): JavaMap {
  const map = new JavaMap()
  for (const [key, value] of json) map.put(key, fromJson(value))
  return map
}
