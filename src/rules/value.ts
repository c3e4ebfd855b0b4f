/** Represents values that a node reads when it runs: of the message, of variables, of other nodes. */
import { AppError } from '#kernel'

declare const content: unique symbol

/** A value of type `T` that exists only at run time. In properties it becomes a placeholder such as `${nodes.a.state}`. */
export interface Value<out T> {
  readonly [content]?: T
  /** such as `nodes.a.rawData.mean` */
  readonly path: string
  /** the same value, without an error where it is missing */
  readonly optional: Value<T>
  /** an item of a list, or a field of an object */
  at(key: string | number): Value<never>
  toJSON(): string
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

export class PathValue implements Value<never> {
  readonly path: string
  readonly #isOptional: boolean

  constructor(path: string, isOptional = false) {
    this.path = path
    this.#isOptional = isOptional
  }

  get optional(): PathValue {
    return new PathValue(this.path, true)
  }

  at(key: string | number): PathValue {
    return new PathValue(this.path + stepOf(key), this.#isOptional)
  }

  toJSON(): string {
    return `\${${this.#isOptional ? '?' : ''}${this.path}}`
  }
}

export function valueAt(root: string, ...steps: readonly string[]): PathValue {
  return new PathValue(root + steps.map(stepOf).join(''))
}

function stepOf(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  if (key.includes('\n')) throw new AppError('VALIDATION', `${JSON.stringify(key)} is not a valid name; use one line`)
  return IDENTIFIER.test(key) ? `.${key}` : `["${key.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"]`
}

/** The values of messages of type `M`, by name: `values<Boiler>().temperature`. */
export function values<M extends object>(): { readonly [K in keyof M]-?: Value<M[K]> } {
  return fieldsAt('streamdata') as { readonly [K in keyof M]-?: Value<M[K]> }
}

/** A value of the message, of any type. */
export function value(name: string): Value<never> {
  return valueAt('streamdata', name)
}

/** What is at a path, of any type: read('nodes.hot.rawData.mean'). */
export function read(path: string): Value<never> {
  const isOptional = path.startsWith('?')
  return new PathValue(isOptional ? path.slice(1) : path, isOptional)
}

/** An object whose every field is the value at that name. */
export function fieldsAt(root: string, ...steps: readonly string[]): object {
  const read = (key: string | symbol): unknown => (typeof key === 'string' ? valueAt(root, ...steps, key) : undefined)
  return new Proxy({}, { get: (_, key) => read(key) })
}

/** Text with values: text`${t} degrees`. */
export function text(parts: TemplateStringsArray, ...inserted: readonly (Value<unknown> | string | number)[]): string {
  return parts.reduce((all, part, index) => {
    const one = inserted[index - 1]
    return all + (typeof one === 'object' ? one.toJSON() : String(one)) + part
  })
}

/** An expression with values, numbers and texts: code`${t} > 80 && ${mode} == ${'auto'}`. */
export function code(
  parts: TemplateStringsArray,
  ...inserted: readonly (Value<unknown> | string | number | boolean)[]
): string {
  return parts.reduce((all, part, index) => all + codeOf(inserted[index - 1]) + part)
}

/** A value or constant as it is written in an expression. */
export function codeOf(operand: unknown): string {
  if (operand instanceof PathValue) return operand.path
  // the escape keeps the text of a placeholder from being one
  return JSON.stringify(operand).replaceAll('${', String.raw`\u0024{`)
}
