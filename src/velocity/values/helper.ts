/** An object of the host with a few methods, such as `$util`. */
import { JavaObject, type Environment, type Value } from './value.ts'

/** Undefined: there is no such method for these arguments. */
export type HelperMethod = (args: readonly Value[], environment: Environment) => Value | undefined

export class Helper extends JavaObject {
  readonly kind = 'helper'
  readonly methods: ReadonlyMap<string, HelperMethod>

  constructor(methods: ReadonlyMap<string, HelperMethod>) {
    super()
    this.methods = methods
  }

  textIn(): string {
    return ''
  }
}
