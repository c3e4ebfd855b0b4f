/** Prevents cycles of parents, even with concurrent writers. */
import { textAt } from './attributes.ts'
import { problem } from './refusals.ts'
import type { TenantResources } from './tenant-resources.ts'
import { refuse } from '#kernel'

const MAX_ANCESTORS = 10_000

export class Parents {
  readonly #tenantResources: TenantResources
  readonly #underWay = new Map<string, Map<string, number>>()

  constructor(tenantResources: TenantResources) {
    this.#tenantResources = tenantResources
  }

  /** Throws `VALIDATION` that names the cycle; of two writers that close one together, at least one fails. */
  async linking<T>(id: string, parent: string, work: () => Promise<T>): Promise<T> {
    const links = this.#underWay.get(id) ?? new Map<string, number>()
    this.#underWay.set(id, links.set(parent, (links.get(parent) ?? 0) + 1))
    try {
      await this.#check(id, parent)
      return await work()
    } finally {
      const left = (links.get(parent) ?? 1) - 1
      if (left === 0) links.delete(parent)
      else links.set(parent, left)
      if (links.size === 0) this.#underWay.delete(id)
    }
  }

  async #check(id: string, parent: string): Promise<void> {
    /** each ancestor, with its child on the path */
    const over = new Map<string, string>([[parent, id]])
    const open = [parent]
    for (let next = open.pop(); next !== undefined && over.size <= MAX_ANCESTORS; next = open.pop()) {
      if (next === id) throw circle(id, over)
      for (const above of await this.#parentsOf(next)) {
        if (above === id) throw circle(id, new Map([...over, [id, next]]))
        if (over.has(above)) continue
        over.set(above, next)
        open.push(above)
      }
    }
  }

  async #parentsOf(id: string): Promise<readonly string[]> {
    const record = (await this.#tenantResources.resources.get(id))?.value
    const stored = record && textAt(record.own, 'parentId')
    const others = this.#underWay.get(id)
    return [...(stored === undefined ? [] : [stored]), ...(others?.keys() ?? [])]
  }
}

const MAX_NAMED = 20

function circle(id: string, over: ReadonlyMap<string, string>): Error {
  const back: string[] = [id]
  for (let at = over.get(id); at !== undefined && at !== id && back.length < MAX_NAMED; at = over.get(at)) back.push(at)
  const chain = [id, ...back.slice(1).reverse(), id].join(' -> ')
  return refuse('the resource', [
    problem('/parentId', `the resource would be its own ancestor: ${chain}`, 'choose another parent'),
  ])
}
