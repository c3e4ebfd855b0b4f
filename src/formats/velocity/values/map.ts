/** Implements Java maps in insertion order, with entries and views. Keys are any values. */
import { JavaCharacter } from './character.ts'
import { Collection, joined } from './collections.ts'
import { areEqual, hashOf } from './identity.ts'
import { doubleOf, fromJsonNumber, isNumber } from './numbers.ts'
import { shownText } from './text.ts'
import { JavaObject, type Environment, type Value } from './value.ts'

export class JavaEntry extends JavaObject {
  readonly kind = 'entry'
  readonly key: Value
  value: Value

  constructor(key: Value, value: Value) {
    super()
    this.key = key
    this.value = value
  }

  textIn(environment: Environment): string {
    return `${shownText(this.key, environment)}=${shownText(this.value, environment)}`
  }

  override equalsIn(other: JavaObject, environment: Environment): boolean {
    if (!(other instanceof JavaEntry) || !areEqual(this.key, other.key, environment)) return false
    return areEqual(this.value, other.value, environment)
  }

  override hashIn(environment: Environment): number {
    return hashOf(this.key, environment) ^ hashOf(this.value, environment)
  }
}

type Source = Readonly<Record<string, unknown>>

export class JavaMap extends JavaObject {
  readonly kind = 'map'
  readonly #fromJson: ((json: unknown) => Value) | undefined
  #source: Source | undefined
  #entries: Map<unknown, JavaEntry> | undefined
  #firstKey: string | undefined
  #firstChild: Value = null
  #children: Map<string, Value> | undefined

  constructor(source?: Source, fromJson?: (json: unknown) => Value) {
    super()
    this.#source = source
    this.#fromJson = fromJson
  }

  get size(): number {
    return this.#all().size
  }

  get(key: Value): Value {
    if (this.#entries !== undefined || this.#source === undefined || typeof key !== 'string') {
      return this.#all().get(identityOf(key))?.value ?? null
    }
    if (key === this.#firstKey) return this.#firstChild
    // converts only the values that are read
    const value = this.#source[key]
    if (typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number') return fromJsonNumber(value)
    // prototypes contain only objects and functions, none of which is JSON
    return value === undefined || !Object.hasOwn(this.#source, key) ? null : this.#child(key, value)
  }

  has(key: Value): boolean {
    if (this.#entries === undefined && typeof key === 'string') return Object.hasOwn(this.#source ?? {}, key)
    return this.#all().has(identityOf(key))
  }

  names(): string[] {
    return Object.keys(this.#source ?? {})
  }

  put(key: Value, value: Value): Value {
    const all = this.#all()
    const identity = identityOf(key)
    const entry = all.get(identity)
    if (entry === undefined) {
      all.set(identity, new JavaEntry(key, value))
      return null
    }
    const before = entry.value
    entry.value = value
    return before
  }

  remove(key: Value): Value {
    const identity = identityOf(key)
    const before = this.#all().get(identity)?.value ?? null
    this.#all().delete(identity)
    return before
  }

  clear(): void {
    this.#all().clear()
  }

  entries(environment: Environment): readonly JavaEntry[] {
    const entries = [...this.#all().values()]
    environment.budget.spend(1 + (entries.length >> 3))
    return entries
  }

  textIn(environment: Environment): string {
    return joined('{', this.entries(environment), '}', environment)
  }

  override equalsIn(other: JavaObject, environment: Environment): boolean {
    if (!(other instanceof JavaMap) || other.size !== this.size) return false
    return this.entries(environment).every(
      ({ key, value }) => other.has(key) && areEqual(value, other.get(key), environment),
    )
  }

  override hashIn(environment: Environment): number {
    return this.entries(environment).reduce((sum, entry) => (sum + hashOf(entry, environment)) | 0, 0)
  }

  /** Returns the same object each time, since templates may change it. */
  #child(key: string, json: unknown): Value {
    const known = this.#knownChild(key)
    if (known !== null) return known
    const child = this.#fromJson?.(json) ?? null
    if (child === null) return null
    if (this.#firstKey === undefined) {
      this.#firstKey = key
      this.#firstChild = child
    } else (this.#children ??= new Map()).set(key, child)
    return child
  }

  #knownChild(key: string): Value {
    if (key === this.#firstKey) return this.#firstChild
    return this.#children?.get(key) ?? null
  }

  #all(): Map<unknown, JavaEntry> {
    if (this.#entries !== undefined) return this.#entries
    const entries = new Map<unknown, JavaEntry>()
    for (const key of Object.keys(this.#source ?? {})) {
      entries.set(key, new JavaEntry(key, this.#knownChild(key) ?? this.#fromJson?.(this.#source?.[key]) ?? null))
    }
    this.#source = undefined
    this.#firstKey = undefined
    this.#firstChild = null
    this.#children = undefined
    return (this.#entries = entries)
  }
}

export class MapView extends Collection {
  readonly kind = 'view'
  readonly map: JavaMap
  readonly part: 'key' | 'value' | 'entry'
  override readonly equality: 'set' | 'identity'

  constructor(map: JavaMap, part: MapView['part']) {
    super()
    this.map = map
    this.part = part
    this.equality = part === 'value' ? 'identity' : 'set'
  }

  get size(): number {
    return this.map.size
  }

  items(environment: Environment): readonly Value[] {
    const entries = this.map.entries(environment)
    const { part } = this
    return part === 'entry' ? entries : entries.map((entry) => entry[part])
  }
}

function identityOf(key: Value): unknown {
  if (typeof key === 'string') return key.startsWith('\0') ? `\0text${key}` : key
  if (key === null || typeof key !== 'object') return key
  if (key instanceof JavaCharacter) return `\0character${key.text}`
  return isNumber(key) ? `\0${key.kind}${doubleOf(key)}` : key
}
