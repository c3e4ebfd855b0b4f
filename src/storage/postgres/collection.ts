/** A collection of one tenant: checks queries, then runs them; writes are units of one. */
import { checkCountField, checkIds, checkQuery, checkWhere, isId } from '../check-query.ts'
import type { Collection, CollectionSpec, Condition, Document, Expectation, Query, Stored, Write } from '../contract.ts'
import type { KnownSpec } from '../spec.ts'
import type { Opened } from './opened.ts'

type Commit = (writes: readonly Write[]) => Promise<readonly number[]>

export class PostgresCollection<D extends Document> implements Collection<D> {
  readonly spec: CollectionSpec<D>
  readonly #known: KnownSpec
  readonly #opened: Opened
  readonly #tenant: string
  readonly #commit: Commit

  constructor(spec: CollectionSpec<D>, opened: Opened, tenant: string, commit: Commit) {
    this.spec = spec
    this.#known = opened.specs.know(spec)
    this.#opened = opened
    this.#tenant = tenant
    this.#commit = commit
  }

  get(id: string): Promise<Stored<D> | undefined> {
    return this.#opened.act(async ({ documents, tables }) =>
      isId(id) ? await documents.get<D>(tables.of(this.#known), this.#tenant, id) : undefined,
    )
  }

  getMany(ids: readonly string[]): Promise<readonly Stored<D>[]> {
    return this.#opened.act(async ({ documents, tables }) => {
      const possible = checkIds(ids)
      return possible.length === 0 ? [] : await documents.getMany<D>(tables.of(this.#known), this.#tenant, possible)
    })
  }

  find(query: Query): Promise<readonly Stored<D>[]> {
    return this.#opened.act(async ({ documents, tables }) => {
      const checked = checkQuery(this.#known, query)
      return await documents.find<D>(tables.of(this.#known), this.#tenant, checked)
    })
  }

  ids(query: Query): Promise<readonly string[]> {
    return this.#opened.act(async ({ documents, tables }) => {
      const checked = checkQuery(this.#known, query)
      return await documents.ids(tables.of(this.#known), this.#tenant, checked)
    })
  }

  count(where?: readonly Condition[]): Promise<number> {
    return this.#opened.act(async ({ documents, tables }) => {
      const checked = checkWhere(this.#known, where)
      return await documents.count(tables.of(this.#known), this.#tenant, checked)
    })
  }

  countBy(field: string, where?: readonly Condition[]): Promise<ReadonlyMap<string, number>> {
    return this.#opened.act(async ({ documents, tables }) => {
      const counted = checkCountField(this.#known, field)
      const checked = checkWhere(this.#known, where)
      return await documents.countBy(tables.of(this.#known), this.#tenant, counted, checked)
    })
  }

  async put(id: string, value: D, expect?: Expectation): Promise<number> {
    const [version = 0] = await this.#commit([this.putting(id, value, expect)])
    return version
  }

  async delete(id: string, expect?: Expectation): Promise<boolean> {
    const [found] = await this.#commit([this.deleting(id, expect)])
    return found === 1
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
