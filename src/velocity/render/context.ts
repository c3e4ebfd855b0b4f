/** The variables of a rendering. */
import type { Value } from '../values/value.ts'

export interface Context {
  get(name: string): Value
  has(name: string): boolean
  set(name: string, value: Value): void
  remove(name: string): void
  /** what 1.7 prints instead of a parameter without a value: the argument as it was written */
  written(name: string): string | undefined
}

export class RootContext implements Context {
  readonly #values: Map<string, Value>

  constructor(values: Map<string, Value>) {
    this.#values = values
  }

  get(name: string): Value {
    return this.#values.get(name) ?? null
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value)
  }

  remove(name: string): void {
    this.#values.delete(name)
  }

  written(): undefined {
    return undefined
  }
}

/** An argument that 1.7 works out each time that it is asked for. */
export interface Argument {
  readonly name: string
  readonly value: () => Value
  readonly source: string
}

/** Within a macro of 1.7: arguments by name, and what is set is set outside too. */
export class MacroContext implements Context {
  readonly #outer: Context
  /** there are few: a look through them costs less than a map of them */
  #arguments: readonly Argument[]
  #locals: Map<string, Value> | undefined

  constructor(outer: Context, given: readonly Argument[]) {
    this.#outer = outer
    this.#arguments = given
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
