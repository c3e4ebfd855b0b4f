/** A collection of documents in memory. */
import { checkCountField, checkIds, checkQuery, checkWhere, isId } from '../check-query.ts'
import type {
  Collection,
  CollectionSpec,
  Committed,
  Condition,
  Document,
  Expectation,
  Query,
  Stored,
  Write,
} from '../contract.ts'
import type { KnownSpec } from '../spec.ts'
import type { MemoryTable } from './memory-table.ts'
import { storedOf } from './row.ts'

export class MemoryCollection<D extends Document> implements Collection<D> {
  readonly spec: CollectionSpec<D>
  readonly #known: KnownSpec
  readonly #table: () => MemoryTable
  readonly #commit: (writes: readonly Write[]) => Promise<Committed>

  /** `table` throws when the store is closed or the collection cannot be used. */
  constructor(
    spec: CollectionSpec<D>,
    known: KnownSpec,
    table: () => MemoryTable,
    commit: (writes: readonly Write[]) => Promise<Committed>,
  ) {
    this.spec = spec
    this.#known = known
    this.#table = table
    this.#commit = commit
  }

  async get(id: string): Promise<Stored<D> | undefined> {
    const table = this.#table()
    const row = isId(id) ? table.get(id) : undefined
    return row && storedOf<D>(row)
  }

  async getMany(ids: readonly string[]): Promise<readonly Stored<D>[]> {
    const table = this.#table()
    return checkIds(ids).flatMap((id) => {
      const row = table.get(id)
      return row === undefined ? [] : [storedOf<D>(row)]
    })
  }

  async find(query: Query): Promise<readonly Stored<D>[]> {
    const table = this.#table()
    return table.find(checkQuery(this.#known, query)).map((row) => storedOf<D>(row))
  }

  async ids(query: Query): Promise<readonly string[]> {
    const table = this.#table()
    return table.find(checkQuery(this.#known, query)).map((row) => row.id)
  }

  async count(where?: readonly Condition[]): Promise<number> {
    const table = this.#table()
    return table.count(checkWhere(this.#known, where))
  }

  async countBy(field: string, where?: readonly Condition[]): Promise<ReadonlyMap<string, number>> {
    const table = this.#table()
    return table.countBy(checkCountField(this.#known, field), checkWhere(this.#known, where))
  }

  async put(id: string, value: D, expect?: Expectation): Promise<number> {
    const { results } = await this.#commit([this.putting(id, value, expect)])
    return results[0] ?? 0
  }

  async delete(id: string, expect?: Expectation): Promise<boolean> {
    const { results } = await this.#commit([this.deleting(id, expect)])
    return results[0] === 1
  }

  putting(id: string, value: D, expect: Expectation = 'any'): Write {
    return { kind: 'put', collection: this.spec, id, value, expect }
  }

  deleting(id: string, expect: Expectation = 'any'): Write {
    return { kind: 'delete', collection: this.spec, id, expect }
  }

  expecting(id: string, version: number): Write {
    return { kind: 'expect', collection: this.spec, id, expect: version }
  }
}
