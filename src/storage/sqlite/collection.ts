/** A collection of one tenant. */
import { checkCountField, checkIds, checkQuery, checkWhere, isId } from '../check-query.ts'
import type { Collection, CollectionSpec, Condition, Document, Expectation, Query, Stored, Write } from '../contract.ts'
import type { KnownSpec } from '../spec.ts'
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { documentsTable, type CollectionForm } from './collection-form.ts'
import {
  checkDocument,
  type DocumentColumns,
  type DocumentRow,
  type DocumentsRead,
  type PageQuery,
} from './read-documents.ts'
import type { Opened } from './opened.ts'

/** more documents by id are read by a thread */
const MAX_READ_HERE = 50

export class SqliteCollection<D extends Document> implements Collection<D> {
  readonly spec: CollectionSpec<D>
  readonly #opened: Opened
  readonly #tenant: string
  readonly #known: KnownSpec
  #getSql: string | undefined

  constructor(opened: Opened, tenant: string, spec: CollectionSpec<D>) {
    this.#opened = opened
    this.#tenant = tenant
    this.spec = spec
    this.#known = opened.specs.know(spec)
  }

  async get(id: string): Promise<Stored<D> | undefined> {
    this.#opened.refuseWhenClosed()
    if (!isId(id)) return undefined
    const form = await this.#readable()
    const row = this.#opened.damage.watch(() => this.#row(form, id))
    return row === undefined ? undefined : storedOf<D>(row)
  }

  async getMany(ids: readonly string[]): Promise<readonly Stored<D>[]> {
    this.#opened.refuseWhenClosed()
    const asked = checkIds(ids)
    const form = await this.#readable()
    if (asked.length > MAX_READ_HERE) {
      return storedInTurns(
        await this.#read<DocumentColumns>({ kind: 'getMany', form, tenant: this.#tenant, ids: asked }),
      )
    }
    const { gets, damage } = this.#opened
    const rows = damage.watch(() => gets.transaction(() => asked.map((id) => this.#row(form, id))))
    return new Yielder(machineTimers).map(
      rows.filter((row) => row !== undefined),
      (row) => storedOf<D>(row),
    )
  }

  async find(query: Query): Promise<readonly Stored<D>[]> {
    return storedInTurns(await this.#page<DocumentColumns>('find', query))
  }

  ids(query: Query): Promise<readonly string[]> {
    return this.#page<readonly string[]>('ids', query)
  }

  async count(where: readonly Condition[] = []): Promise<number> {
    this.#opened.refuseWhenClosed()
    checkWhere(this.#known, where)
    const form = await this.#readable()
    const read = { kind: 'count', form, tenant: this.#tenant, where } as const
    return this.#opened.counts.count(this.#tenant, this.#known, where, () => this.#read<number>(read))
  }

  async countBy(field: string, where: readonly Condition[] = []): Promise<ReadonlyMap<string, number>> {
    this.#opened.refuseWhenClosed()
    checkCountField(this.#known, field)
    checkWhere(this.#known, where)
    const form = await this.#readable()
    const read = { kind: 'countBy', form, tenant: this.#tenant, field, where } as const
    return new Map(await this.#read<readonly (readonly [string, number])[]>(read))
  }

  async put(id: string, value: D, expect?: Expectation): Promise<number> {
    const { results } = await this.#opened.commit(this.#tenant, [this.putting(id, value, expect)])
    return results[0] ?? 0
  }

  async delete(id: string, expect?: Expectation): Promise<boolean> {
    const { results } = await this.#opened.commit(this.#tenant, [this.deleting(id, expect)])
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

  #row(form: CollectionForm, id: string): DocumentRow | undefined {
    this.#getSql ??= `SELECT id, version, body, sum FROM ${documentsTable(form)} WHERE tenant = ? AND id = ? AND body IS NOT NULL`
    const row = this.#opened.gets.row<DocumentRow>(this.#getSql, this.#tenant, id)
    if (row !== undefined) checkDocument(form, this.#tenant, id, row)
    return row
  }

  async #page<Answer>(kind: 'find' | 'ids', query: Query): Promise<Answer> {
    this.#opened.refuseWhenClosed()
    const { sort, ...checked } = checkQuery(this.#known, query)
    const named = sort.map(({ field, descending }) => ({ field: field === 'id' ? field : field.name, descending }))
    const page: PageQuery = { ...checked, sort: named }
    const form = await this.#readable()
    return this.#read<Answer>({ kind, form, tenant: this.#tenant, query: page })
  }

  #readable(): CollectionForm | Promise<CollectionForm> {
    return this.#opened.declarations.readable(this.#known)
  }

  #read<Answer>(read: DocumentsRead): Promise<Answer> {
    return this.#opened.readers.read<Answer>({ of: 'documents', read })
  }
}

function storedInTurns<D extends Document>({ ids, versions, bodies }: DocumentColumns): Promise<readonly Stored<D>[]> {
  return new Yielder(machineTimers).map(ids, (id, i) => storedOf<D>([id, versions[i] ?? 0, bodies[i] ?? '', 0]))
}

function storedOf<D extends Document>([id, version, body]: DocumentRow): Stored<D> {
  return { id, version, value: JSON.parse(body) as D }
}
