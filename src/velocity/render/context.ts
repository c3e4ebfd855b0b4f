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
  readonly value: () => Value
  readonly source: string
}

/** Within a macro of 1.7: arguments by name, and what is set is set outside too. */
export class MacroContext implements Context {
  readonly #outer: Context
  readonly #locals = new Map<string, Value>()
  readonly #arguments = new Map<string, Argument>()
  readonly #written = new Map<string, string>()

  constructor(outer: Context) {
    this.#outer = outer
  }

  setLocal(name: string, value: Value): void {
    this.#locals.set(name, value)
  }

  setArgument(name: string, argument: Argument): void {
    this.#arguments.set(name, argument)
    this.#written.set(`$${name}`, argument.source)
  }

  get(name: string): Value {
    return this.#locals.get(name) ?? this.#arguments.get(name)?.value() ?? this.#outerUnless(name)
  }

  has(name: string): boolean {
    return this.#locals.has(name) || this.#arguments.has(name) || this.#outer.has(name)
  }

  set(name: string, value: Value): void {
    this.#locals.set(name, value)
    this.#outer.set(name, value)
  }

  remove(name: string): void {
    this.#locals.delete(name)
    this.#arguments.delete(name)
    this.#outer.remove(name)
  }

  written(name: string): string | undefined {
    return this.#written.get(name) ?? this.#outer.written(name)
  }

  #outerUnless(name: string): Value {
    return this.#arguments.has(name) ? null : this.#outer.get(name)
  }
}
