/** What a directive says of itself while its block is rendered: `$foreach`, `$macro` and the like. */
import type { Place } from '../fault.ts'
import { JavaMap } from './map.ts'
import { JavaObject, type Environment, type Value } from './value.ts'

export class Scope extends JavaObject {
  readonly kind = 'scope'
  /** told apart by `#break` */
  readonly owner: object
  /** few are asked for it */
  #storage: JavaMap | undefined
  readonly parent: Scope | null
  /** what stood in its variable before, other than such a scope */
  readonly replaced: Value
  /** of a loop; `place`: of its directive */
  loop: { index: number; hasNext: boolean; place: () => Place } | undefined

  constructor(owner: object, before: Value) {
    super()
    this.owner = owner
    this.parent = before instanceof Scope ? before : null
    this.replaced = before instanceof Scope ? null : before
  }

  get storage(): JavaMap {
    return (this.#storage ??= new JavaMap())
  }

  /** from 1 */
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
