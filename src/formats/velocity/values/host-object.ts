/** Represents an object of the host with methods, such as `$util`. */
import { JavaObject, type Environment, type Value } from './value.ts'

/** Returns undefined if no method accepts these arguments. */
export type HostMethod = (args: readonly Value[], environment: Environment) => Value | undefined

export class HostObject extends JavaObject {
  readonly kind = 'host'
  readonly methods: ReadonlyMap<string, HostMethod>
  readonly #text: string

  constructor(methods: ReadonlyMap<string, HostMethod>, text = '') {
    super()
    this.methods = methods
    this.#text = text
  }

  textIn(): string {
    return this.#text
  }
}
