/** Reads documents of collections. */
import type { CheckedQuery } from '../check-query.ts'
import type { DocumentsMedium } from '../checked-store.ts'
import type { Condition, Document, Stored } from '../contract.ts'
import type { KnownField, KnownSpec } from '../spec.ts'
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

/** most documents read by id on this thread; a reader thread reads more */
const MAX_READ_HERE = 50

/** Reads a collection: by key on this thread, everything else on reader threads. */
export class SqliteDocuments<D extends Document> implements DocumentsMedium<D> {
  readonly #opened: Opened
  readonly #tenant: string
  readonly #known: KnownSpec
  #getSql: string | undefined

  constructor(opened: Opened, tenant: string, known: KnownSpec) {
    this.#opened = opened
    this.#tenant = tenant
    this.#known = known
  }

  async get(id: string): Promise<Stored<D> | undefined> {
    const form = await this.#readable()
    const row = this.#opened.damage.watch(() => this.#row(form, id))
    return row === undefined ? undefined : storedOf<D>(row)
  }

  async getMany(ids: readonly string[]): Promise<readonly Stored<D>[]> {
    const form = await this.#readable()
    if (ids.length > MAX_READ_HERE) {
      return storedInTurns(await this.#read<DocumentColumns>({ kind: 'getMany', form, tenant: this.#tenant, ids }))
    }
    const { gets, damage } = this.#opened
    const rows = damage.watch(() => gets.transaction(() => ids.map((id) => this.#row(form, id))))
    return new Yielder(machineTimers).map(
      rows.filter((row) => row !== undefined),
      (row) => storedOf<D>(row),
    )
  }

  async find(query: CheckedQuery): Promise<readonly Stored<D>[]> {
    return storedInTurns(await this.#page<DocumentColumns>('find', query))
  }

  ids(query: CheckedQuery): Promise<readonly string[]> {
    return this.#page<readonly string[]>('ids', query)
  }

  async count(where: readonly Condition[]): Promise<number> {
    const form = await this.#readable()
    const read = { kind: 'count', form, tenant: this.#tenant, where } as const
    return this.#opened.counts.count(this.#tenant, this.#known, where, () => this.#read<number>(read))
  }

  async countBy({ name }: KnownField, where: readonly Condition[]): Promise<ReadonlyMap<string, number>> {
    const form = await this.#readable()
    const read = { kind: 'countBy', form, tenant: this.#tenant, field: name, where } as const
    return new Map(await this.#read<readonly (readonly [string, number])[]>(read))
  }

  #row(form: CollectionForm, id: string): DocumentRow | undefined {
    this.#getSql ??= `SELECT id, version, body, sum FROM ${documentsTable(form)} WHERE tenant = ? AND id = ? AND body IS NOT NULL`
    const row = this.#opened.gets.row<DocumentRow>(this.#getSql, this.#tenant, id)
    if (row !== undefined) checkDocument(form, this.#tenant, id, row)
    return row
  }

  async #page<Answer>(kind: 'find' | 'ids', { sort, ...checked }: CheckedQuery): Promise<Answer> {
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
