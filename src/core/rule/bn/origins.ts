/** Maps parts of a rule back to the tabular form, for issues. */
import { at } from '#kernel'
import type { BnPlug } from './bn-graph.ts'

export class Origins {
  /** rule path -> path there; `deep` if paths below are the same */
  readonly #places = new Map<string, { readonly path: string; readonly deep: boolean }>()

  sensor(index: number, path: string, plug: BnPlug): void {
    const own = at('', 'sensors', index)
    this.#put(own, path)
    this.#put(at(own, 'label'), at(path, 'name'))
    this.#put(at(own, 'sequence'), at(path, 'properties', 'cost'))
    this.#put(`${own}/`, at(path, 'properties'), true)
    this.#plug(own, at(path, 'properties', 'sensor'), plug)
  }

  actuator(index: number, path: string, plug: BnPlug): void {
    const own = at('', 'actuators', index)
    this.#put(own, path)
    this.#put(`${own}/`, path, true)
    this.#plug(own, path, plug)
  }

  relation(index: number, path: string, table: string): void {
    const own = at('', 'relations', index)
    this.#put(own, path)
    this.#put(at(own, 'parentLabels'), at(table, 'nodes'))
    this.#put(at(own, 'combinations'), at(table, 'function'))
  }

  trigger(index: number, path: string): void {
    this.#put(at('', 'triggers', index), path)
  }

  /** The path in the `bn` form for a path in the rule; paths outside the graph stay. */
  of(path: string): string {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const head = path.slice(0, end)
      const exact = this.#places.get(head)
      const below = end < path.length ? this.#places.get(`${head}/`) : undefined
      const place = below ?? exact
      if (place) return place.deep ? place.path + path.slice(end) : place.path
    }
    return path
  }

  #plug(own: string, path: string, plug: BnPlug): void {
    this.#put(at(own, 'name'), at(path, 'name'))
    this.#put(at(own, 'version'), at(path, 'version'))
    this.#put(at(own, 'properties'), at(path, 'requiredProperties'))
    plug.requiredProperties?.forEach((item, i) => {
      for (const key of Object.keys(item)) {
        this.#put(at(own, 'properties', key), at(path, 'requiredProperties', i, key), true)
      }
    })
  }

  #put(own: string, path: string, deep = false): void {
    this.#places.set(own, { path, deep })
  }
}
