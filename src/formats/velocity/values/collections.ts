/** Implements lists, arrays, ranges and iterators. */
import { failed } from '../fault.ts'
import { areEqual, hashOf } from './identity.ts'
import { shownText } from './text.ts'
import { type Environment, JavaObject, type Kind, type Value } from './value.ts'

export abstract class Collection extends JavaObject {
  abstract readonly size: number
  readonly equality: 'list' | 'set' | 'identity' = 'list'
  /** Returns the items in order, which must not be changed. Charges the budget. */
  abstract items(environment: Environment): readonly Value[]

  textIn(environment: Environment): string {
    return joined('[', this.items(environment), ']', environment)
  }

  override equalsIn(other: JavaObject, environment: Environment): boolean {
    if (this === other) return true
    if (!(other instanceof Collection) || this.equality !== other.equality || this.size !== other.size) return false
    const [items, others] = [this.items(environment), other.items(environment)]
    if (this.equality === 'list') return items.every((item, i) => areEqual(item, others[i] ?? null, environment))
    return this.equality === 'set' && items.every((item) => others.some((one) => areEqual(item, one, environment)))
  }

  override hashIn(environment: Environment): number {
    if (this.equality === 'identity') return 1
    const isList = this.equality === 'list'
    let hash = isList ? 1 : 0
    for (const item of this.items(environment))
      hash = ((isList ? Math.imul(31, hash) : hash) + hashOf(item, environment)) | 0
    return hash
  }
}

type FromJson = (json: unknown) => Value

export class JavaList extends Collection {
  readonly kind: Kind = 'list'
  #json: readonly unknown[] | undefined
  #fromJson: FromJson | undefined
  #items: Value[]

  constructor(items: readonly unknown[], fromJson?: FromJson) {
    super()
    this.#json = fromJson && items
    this.#fromJson = fromJson
    this.#items = fromJson === undefined ? (items as Value[]) : []
  }

  get size(): number {
    return this.#json?.length ?? this.#items.length
  }

  items(environment: Environment): readonly Value[] {
    return this.change(environment)
  }

  change(environment: Environment): Value[] {
    environment.budget.spend(1 + (this.size >> 3))
    if (this.#json !== undefined && this.#fromJson !== undefined) {
      this.#items = this.#json.map(this.#fromJson)
      this.#json = undefined
    }
    return this.#items
  }

  /** The index counts from 0 and must be in range. */
  at(index: number, environment: Environment): Value {
    const { size } = this
    if (index < 0 || index >= size) throw outOfBounds(index, size)
    return this.items(environment)[index] ?? null
  }
}

export class JavaArray extends JavaList {
  override readonly kind = 'array'
  override readonly equality = 'identity'
  readonly #className: string

  constructor(items: Value[], className: string) {
    super(items)
    this.#className = className
  }

  /** 1.7 prints class and address; the address is constant here. */
  override textIn(environment: Environment): string {
    return environment.compat === '1.7' ? `${this.#className}@0` : super.textIn(environment)
  }
}

const MAX_RANGE = 1_000_000

/** A lazy range of integers in either direction. */
export class JavaRange extends JavaList {
  readonly #from: number
  readonly #step: 1 | -1
  readonly #length: number
  #isMade = false

  constructor(from: number, to: number) {
    super([])
    this.#from = from
    this.#step = from >= to ? -1 : 1
    this.#length = Math.abs(to - from) + 1
  }

  override get size(): number {
    return this.#isMade ? super.size : this.#length
  }

  override at(index: number, environment: Environment): Value {
    if (this.#isMade || index < 0 || index >= this.#length) return super.at(index, environment)
    return this.#from + index * this.#step
  }

  override change(environment: Environment): Value[] {
    const items = super.change(environment)
    if (this.#isMade) return items
    if (this.#length > MAX_RANGE) throw failed(`a range of ${this.#length} numbers is too long for a list`)
    for (let i = 0; i < this.#length; i++) items.push(this.#from + i * this.#step)
    this.#isMade = true
    return items
  }
}

export class JavaIterator extends JavaObject {
  readonly kind = 'iterator'
  readonly #items: readonly Value[]
  #next = 0

  constructor(items: readonly Value[]) {
    super()
    this.#items = items
  }

  get hasNext(): boolean {
    return this.#next < this.#items.length
  }

  next(): Value {
    if (!this.hasNext) throw failed('NoSuchElementException')
    return this.#items[this.#next++] ?? null
  }

  rest(): readonly Value[] {
    const rest = this.#items.slice(this.#next)
    this.#next = this.#items.length
    return rest
  }

  textIn(): string {
    return 'java.util.Iterator@0'
  }
}

export function outOfBounds(index: number, size: number): Error {
  return failed(`index ${index} is out of bounds for ${size} items`)
}

/** Joins a collection or map to a text, and charges the text while it grows. */
export function joined(open: string, items: readonly Value[], close: string, environment: Environment): string {
  const { budget } = environment
  budget.enter()
  let text = open
  for (const [i, item] of items.entries()) {
    text += `${i === 0 ? '' : ', '}${shownText(item, environment)}`
    budget.make(text.length > 4_096 ? text.length >> 3 : 0)
    if (text.length > budget.limits.characters) budget.make(text.length)
  }
  budget.leave()
  return text + close
}
