/**
 * Compact storage of similar JSON values: the common form is shared, and each value keeps only its numbers and its own
 * texts.
 *
 * PACKED-1 unpacking restores what was packed: the same values under the same keys in the same order.
 */
import { isPlainObject } from './json.ts'
import { LruCache } from './lru-cache.ts'

/** Placeholders in a form, for a number and for a name (by index); valid JSON text contains neither character. */
const NUMBER = '\u0000'
const NAME = '\u0001'
const PLACES = /\u0000|\u0001\d+\u0001/g
const MAX_FORMS = 4_096
const MAX_QUOTED = 4_096

export interface PackedJson {
  /** JSON text with placeholders for numbers and names, shared by all values of this form */
  readonly form: string
  readonly numbers: readonly number[]
  readonly names: readonly string[]
}

export class JsonPacker {
  readonly #forms = new LruCache<string, string>(MAX_FORMS)
  readonly #quoted = new Map<string, string>()
  readonly #fixed: ReadonlySet<string>

  /** `fixed`: keys whose numbers are part of the form. */
  constructor(fixed: Iterable<string> = []) {
    this.#fixed = new Set(fixed)
  }

  /** `names`: texts specific to this value, used as keys or values. Undefined when the value is not plain JSON. */
  pack(value: unknown, names: readonly string[]): PackedJson | undefined {
    const numbers: number[] = []
    const written = this.#form(value, false, names, numbers)
    if (written === undefined) return undefined
    const known = this.#forms.get(written)
    if (known === undefined) this.#forms.set(written, written)
    // `slice` copies the array without its spare capacity
    return { form: known ?? written, numbers: numbers.slice(), names }
  }

  #form(value: unknown, isFixed: boolean, names: readonly string[], numbers: number[]): string | undefined {
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) return undefined
      if (isFixed) return textOf(value)
      numbers.push(value)
      return NUMBER
    }
    if (typeof value === 'string') return this.#text(value, names)
    if (value === null || typeof value === 'boolean') return String(value)
    if (Array.isArray(value)) return this.#list(value, isFixed, names, numbers)
    return isPlainObject(value) ? this.#record(value, names, numbers) : undefined
  }

  #text(text: string, names: readonly string[]): string {
    const index = names.indexOf(text)
    if (index !== -1) return NAME + index + NAME
    const known = this.#quoted.get(text)
    if (known !== undefined) return known
    const quoted = JSON.stringify(text)
    if (this.#quoted.size < MAX_QUOTED) this.#quoted.set(text, quoted)
    return quoted
  }

  #list(list: readonly unknown[], isFixed: boolean, names: readonly string[], numbers: number[]): string | undefined {
    let form = '['
    for (let i = 0; i < list.length; i += 1) {
      const one = this.#form(list[i], isFixed, names, numbers)
      if (one === undefined) return undefined
      form += i === 0 ? one : `,${one}`
    }
    return `${form}]`
  }

  #record(record: Readonly<Record<string, unknown>>, names: readonly string[], numbers: number[]): string | undefined {
    let form = ''
    for (const key of Object.keys(record)) {
      const item = record[key]
      if (item === undefined) continue
      const one = this.#form(item, this.#fixed.has(key), names, numbers)
      if (one === undefined) return undefined
      form += `${form === '' ? '{' : ','}${this.#text(key, names)}:${one}`
    }
    return form === '' ? '{}' : `${form}}`
  }
}

export function unpack({ form, numbers, names }: PackedJson): unknown {
  let at = 0
  const text = form.replace(PLACES, (mark) => {
    if (mark === NUMBER) return textOf(numbers[at++] as number)
    return JSON.stringify(names[Number(mark.slice(1, -1))])
  })
  return JSON.parse(text)
}

function textOf(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number)
}
