/** Sends units of work to the writer of state.db, and reads the results. */
import { conflictError, type Conflict } from '../conflicts.ts'
import type { Committed, Write } from '../contract.ts'
import { prepareWrites, type PreparedWrite } from '../prepare-writes.ts'
import type { Specs } from '../spec.ts'
import { columnValues, valuesOfColumns } from './collection-form.ts'
import type { Change, CountMemory } from './count-memory.ts'
import type { Declarations, StateCommits } from './declarations.ts'
import {
  MAX_CHARACTERS,
  MAX_ENTRIES,
  TRIM_ROWS,
  type LogChunk,
  type WriteConflict,
  type StateAnswer,
  type StateWrite,
  type PreviousColumns,
} from './state-jobs.ts'
import { writeError } from './failure.ts'

export class StateCommit {
  readonly #commits: StateCommits
  readonly #declarations: Declarations
  readonly #specs: Specs
  readonly #counts: CountMemory

  constructor(commits: StateCommits, declarations: Declarations, specs: Specs, counts: CountMemory) {
    this.#counts = counts
    this.#commits = commits
    this.#declarations = declarations
    this.#specs = specs
  }

  /** Checks and copies the writes synchronously, then commits them. */
  async commit(tenant: string, writes: readonly Write[]): Promise<Committed> {
    const prepared = prepareWrites(writes, this.#specs)
    if (prepared.length === 0) return { results: [] }
    let weight = 0
    const withPrevious = new Map<string, boolean>()
    let answer: StateAnswer | undefined
    try {
      const sent = prepared.map((write) => {
        weight += weightOf(write)
        return this.#send(write, tenant, withPrevious)
      })
      answer = await this.#commits.submit({ kind: 'commit', tenant, writes: sent }, weight)
    } finally {
      this.#reckon(tenant, withPrevious, prepared, answer)
    }
    if ('conflicts' in answer) throw conflictError(answer.conflicts.map((conflict) => conflictOf(prepared, conflict)))
    if ('failure' in answer) throw writeError(answer)
    return { results: answer.results }
  }

  /** Updates the cached counts. Without a result, the outcome of the writes is unknown. */
  #reckon(
    tenant: string,
    withPrevious: ReadonlyMap<string, boolean>,
    prepared: readonly PreparedWrite[],
    answer: StateAnswer | undefined,
  ): void {
    for (const [collection, needsPrevious] of withPrevious) {
      if (answer === undefined) this.#counts.ended(tenant, collection, undefined)
      else if (!('results' in answer) || !answer.changed.includes(collection))
        this.#counts.ended(tenant, collection, [])
      else
        this.#counts.ended(
          tenant,
          collection,
          needsPrevious ? this.#changesOf(collection, prepared, answer.previous) : undefined,
        )
    }
  }

  #changesOf(
    collection: string,
    prepared: readonly PreparedWrite[],
    previous: readonly PreviousColumns[],
  ): readonly Change[] {
    return previous.flatMap(({ index, before }): readonly Change[] => {
      const write = prepared[index]
      if (write?.kind !== 'put' && write?.kind !== 'delete') return []
      if (write.known.name !== collection) return []
      const { id } = write
      const form = this.#declarations.form(write.known)
      return [
        {
          before: before === null ? undefined : { id, fields: valuesOfColumns(form, before) },
          after: write.kind === 'delete' ? undefined : { id, fields: write.fields },
        },
      ]
    })
  }

  /** Deletes a limited number of rows at a time, so that commits get their turn. */
  async trim(tenant: string, log: string, upTo: number): Promise<void> {
    for (let gone = TRIM_ROWS; gone === TRIM_ROWS;) {
      const answer = await this.#commits.submit({ kind: 'trim', tenant, log, upTo }, 0)
      if ('failure' in answer) throw writeError(answer)
      gone = 'results' in answer ? (answer.results[0] ?? 0) : 0
    }
  }

  #send(write: PreparedWrite, tenant: string, withPrevious: Map<string, boolean>): StateWrite {
    if (write.kind === 'append') {
      return { kind: 'append', log: write.log, chunks: chunksOf(write.texts) }
    }
    const form = this.#declarations.form(write.known)
    const { id, expect } = write
    if (write.kind === 'expect') return { kind: 'expect', collection: form.name, id, expect: write.expect }
    const needsPrevious = withPrevious.get(form.name) ?? this.#counts.begun(tenant, form.name)
    withPrevious.set(form.name, needsPrevious)
    if (write.kind === 'delete') return { kind: 'delete', collection: form.name, id, expect, needsPrevious }
    const fields = columnValues(form, id, write.fields)
    return { kind: 'put', collection: form.name, id, body: write.text, fields, expect, needsPrevious }
  }
}

function weightOf(write: PreparedWrite): number {
  if (write.kind === 'put') return write.text.length
  return write.kind === 'append' ? write.texts.reduce((sum, text) => sum + text.length, 0) : 0
}

function conflictOf(prepared: readonly PreparedWrite[], { index, actual }: WriteConflict): Conflict {
  const write = prepared[index]
  if (write === undefined || write.kind === 'append') throw new Error('a conflict names a write that expects nothing')
  return { index, collection: write.known.name, id: write.id, expected: write.expect, actual }
}

function chunksOf(texts: readonly string[]): readonly LogChunk[] {
  const [only] = texts
  if (texts.length === 1 && only !== undefined) return [{ count: 1, bodies: only }]
  const chunks: LogChunk[] = []
  let held: string[] = []
  let characters = 0
  const end = (): void => {
    if (held.length > 0) chunks.push({ count: held.length, bodies: held.join(',') })
    held = []
    characters = 0
  }
  for (const text of texts) {
    if (held.length === MAX_ENTRIES || characters + text.length > MAX_CHARACTERS) end()
    held.push(text)
    characters += text.length
  }
  end()
  return chunks
}
