/** Stores the state of a directive during its block: `$foreach`, `$macro` and similar. */
import type { Position } from '../fault.ts'
import { JavaMap } from './map.ts'
import { JavaObject, type Environment, type Value } from './value.ts'

export class Scope extends JavaObject {
  readonly kind = 'scope'
  readonly owner: object
  #storage: JavaMap | undefined
  readonly parent: Scope | null
  readonly replaced: Value
  loop: { index: number; hasNext: boolean; position: () => Position } | undefined

  constructor(owner: object, before: Value) {
    super()
    this.owner = owner
    this.parent = before instanceof Scope ? before : null
    this.replaced = before instanceof Scope ? null : before
  }

  get storage(): JavaMap {
    return (this.#storage ??= new JavaMap())
  }

  get depth(): number {
    return (this.parent?.depth ?? 0) + 1
  }

  get topmost(): Scope {
    return this.parent?.topmost ?? this
  }

  lookUp(key: Value): Value {
    if (this.storage.has(key) || this.parent === null) return this.storage.get(key)
    return this.parent.lookUp(key)
  }

  textIn(environment: Environment): string {
    return this.storage.textIn(environment)
  }
}
