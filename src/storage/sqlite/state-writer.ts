/**
 * Writes state.db, as the only thread that does, one transaction per batch, whose results follow the commit.
 * A unit is compared with the stored state before it writes: undo by savepoints would cost the square of their pages.
 */
import { isExpected } from '../conflicts.ts'
import { createFieldTables, documentsSql, documentsTable, formText, type CollectionForm } from './collection-form.ts'
import { CollectionTables, type Current } from './collection-tables.ts'
import { newerError } from '../tenant.ts'
import { openWriter, type Database } from './database.ts'
import { LogTables } from './log-tables.ts'
import { openForm } from './file-form.ts'
import { serveThread } from './serve-thread.ts'
import {
  MUST_FILL,
  READY,
  type FilledRow,
  type WriteConflict,
  type StateAnswer,
  type StateJob,
  type StateWrite,
  type PreviousColumns,
} from './state-jobs.ts'
import { STATE_FORM } from './state-form.ts'
import { packAnswers, unpackJobs, type StateAnswers, type StateWire } from './state-wire.ts'
import { notWritten } from './failure.ts'

export interface StateWriterData {
  readonly file: string
}

class StateWriter {
  readonly #db: Database
  readonly #logs: LogTables
  readonly #collections = new Map<string, CollectionTables>()
  readonly #tenants: Set<string>

  constructor({ file }: StateWriterData) {
    this.#db = openWriter(file, { synchronous: 'FULL', cacheMb: 64, checkpointPages: 1_000 })
    openForm(this.#db, file, STATE_FORM)
    this.#logs = new LogTables(this.#db)
    this.#tenants = new Set(this.#db.rows<[string]>('SELECT name FROM tenants').map(([name]) => name))
  }

  handle(wire: StateWire): StateAnswers {
    return packAnswers(this.#written(unpackJobs(wire)))
  }

  /** Writes all batches in one transaction, since a sync costs more than most of the writes that it makes durable. */
  handleAll(wires: readonly StateWire[]): readonly StateAnswers[] {
    const lists = wires.map(unpackJobs)
    const answers = this.#written(lists.flat())
    let end = 0
    return lists.map(({ length }) => packAnswers(answers.slice(end, (end += length))))
  }

  #written(jobs: readonly StateJob[]): readonly StateAnswer[] {
    try {
      return this.#whole(jobs)
    } catch (error) {
      if (jobs.length === 1) return [notWritten(error)]
      // a job is invalid, or the disk is full: retry one by one
      return jobs.flatMap((job) => this.#written([job]))
    }
  }

  close(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#db.close()
  }

  #whole(jobs: readonly StateJob[]): readonly StateAnswer[] {
    try {
      return this.#db.transaction(() => {
        const answers = jobs.map((job) => this.#do(job))
        this.#logs.flush()
        return answers
      })
    } catch (error) {
      // caches may be outdated
      this.#logs.forget()
      this.#tenants.clear()
      throw error
    }
  }

  #do(job: StateJob): StateAnswer {
    switch (job.kind) {
      case 'commit':
        return this.#commit(job.tenant, job.writes)
      case 'declare':
        return { results: [this.#declare(job.form)], changed: [], previous: [] }
      case 'fill':
        this.#fill(job.collection, job.rows, job.last)
        return DONE
      case 'trim':
        return { ...DONE, results: [this.#logs.trim(job.tenant, job.log, job.upTo)] }
    }
  }

  #commit(tenant: string, writes: readonly StateWrite[]): StateAnswer {
    const conflicts = this.#conflicts(tenant, writes)
    if (conflicts.length > 0) return { conflicts }
    const previous: PreviousColumns[] = []
    const changed = new Set<string>()
    const results = writes.map((write, index) => {
      if (write.kind === 'append') return this.#logs.append(tenant, write.log, write.chunks)
      if (write.kind === 'expect') return write.expect
      const tables = this.#tables(write.collection)
      const before = write.needsPrevious ? tables.searched(tenant, write.id) : undefined
      const result =
        write.kind === 'put'
          ? tables.put(tenant, write.id, write.body, write.fields)
          : Number(tables.delete(tenant, write.id))
      if (!tables.takeChanged()) return result
      changed.add(write.collection)
      if (before !== undefined) previous.push({ index, before })
      return result
    })
    if (!this.#tenants.has(tenant) && writes.some(({ kind }) => kind === 'put' || kind === 'append')) {
      this.#db.run('INSERT OR IGNORE INTO tenants (name) VALUES (?)', tenant)
      if (this.#tenants.size < MAX_REMEMBERED) this.#tenants.add(tenant)
    }
    return { results, changed: [...changed], previous }
  }

  #conflicts(tenant: string, writes: readonly StateWrite[]): readonly WriteConflict[] {
    if (writes.every((write) => write.kind === 'append' || write.expect === 'any')) return []
    const left = new Map<string, Current>()
    return writes.flatMap((write, index): readonly WriteConflict[] => {
      if (write.kind === 'append') return []
      // names of collections contain no blanks
      const document = `${write.collection} ${write.id}`
      const { version, live } = left.get(document) ?? this.#tables(write.collection).current(tenant, write.id)
      if (!isExpected(write.expect, live ? version : undefined)) return [{ index, actual: live ? version : 'absent' }]
      if (write.kind === 'put') left.set(document, { version: version + 1, live: true })
      else if (write.kind === 'delete') left.set(document, { version, live: false })
      return []
    })
  }

  #tables(collection: string): CollectionTables {
    const tables = this.#collections.get(collection)
    if (tables === undefined) throw new Error(`the collection ${collection} was not declared`)
    return tables
  }

  #declare(form: CollectionForm): number {
    const text = formText(form)
    const [version, stored, filled] =
      this.#db.row<[number, string, number]>(
        'SELECT version, form, filled FROM collections WHERE name = ?',
        form.name,
      ) ?? []
    if (version !== undefined && version > form.version) throw newerError(form.name, version, form.version)
    const same = version === form.version && stored === text && filled === 1
    if (!same) {
      this.#db.exec(documentsSql(documentsTable(form)) + createFieldTables(form))
      this.#db.run('INSERT OR REPLACE INTO collections VALUES (?, ?, ?, 0)', form.name, form.version, text)
    }
    this.#collections.set(form.name, new CollectionTables(this.#db, form))
    if (same) return READY
    if (this.#db.row(`SELECT 1 FROM ${documentsTable(form)} LIMIT 1`) !== undefined) return MUST_FILL
    this.#fill(form.name, [], true)
    return READY
  }

  #fill(collection: string, rows: readonly FilledRow[], last: boolean): void {
    const tables = this.#tables(collection)
    for (const { tenant, id, fields } of rows) tables.fill(tenant, id, fields)
    if (last) this.#db.run('UPDATE collections SET filled = 1 WHERE name = ?', collection)
  }
}

const DONE: StateAnswer = { results: [], changed: [], previous: [] }
const MAX_REMEMBERED = 10_000

serveThread<StateWire, StateAnswers>((data) => new StateWriter(data as StateWriterData))
