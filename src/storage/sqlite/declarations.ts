/** Creates tables of collections on first use, and fills them again after a change of specification. */
import type { Document } from '../contract.ts'
import { Problems } from '../problems.ts'
import { readFields, type KnownSpec } from '../spec.ts'
import { columnValues, formOf, type CollectionForm } from './collection-form.ts'
import type { GroupCommit } from './group-commit.ts'
import type { WalkedRow } from './read-documents.ts'
import type { ReaderPool } from './reader-pool.ts'
import { MUST_FILL, type FilledRow, type StateAnswer, type StateJob } from './state-jobs.ts'
import type { StateAnswers, StateWire } from './state-wire.ts'
import { writeError } from './failure.ts'

export type StateCommits = GroupCommit<StateJob, StateWire, StateAnswer, StateAnswers>

interface Declared {
  readonly form: CollectionForm
  /** resolves when the collection can be read */
  readonly ready: Promise<void>
  isReady: boolean
}

export class Declarations {
  readonly #commits: StateCommits
  readonly #readers: ReaderPool
  readonly #declared = new Map<string, Declared>()

  constructor(commits: StateCommits, readers: ReaderPool) {
    this.#commits = commits
    this.#readers = readers
  }

  /** Returns the form for a write that is submitted in the same turn. */
  form(known: KnownSpec): CollectionForm {
    return this.#declare(known).form
  }

  /** A promise only while tables are being created. */
  readable(known: KnownSpec): CollectionForm | Promise<CollectionForm> {
    const declared = this.#declare(known)
    return declared.isReady ? declared.form : declared.ready.then(() => declared.form)
  }

  #declare(known: KnownSpec): Declared {
    const before = this.#declared.get(known.name)
    if (before !== undefined) return before
    const form = formOf(known)
    const declared: Declared = { form, ready: this.#make(known, form), isReady: false }
    this.#declared.set(known.name, declared)
    declared.ready.then(
      () => (declared.isReady = true),
      // pending reads reject, and the next use retries
      () => this.#declared.delete(known.name),
    )
    return declared
  }

  async #make(known: KnownSpec, form: CollectionForm): Promise<void> {
    const answer = await this.#submit({ kind: 'declare', form }, 0)
    if (answer === MUST_FILL) await this.#fill(known, form)
  }

  async #fill(known: KnownSpec, form: CollectionForm): Promise<void> {
    for (let after = 0; ;) {
      const walked = await this.#readers.read<readonly WalkedRow[]>({
        of: 'documents',
        read: { kind: 'walk', form, after },
      })
      const rows = walked.map((row) => filledRow(known, form, row))
      const weight = walked.reduce((sum, [, , , body]) => sum + body.length, 0)
      await this.#submit({ kind: 'fill', collection: form.name, rows, last: rows.length === 0 }, weight)
      const last = walked.at(-1)
      if (last === undefined) return
      after = last[0]
    }
  }

  async #submit(job: StateJob, weight: number): Promise<number | undefined> {
    const answer = await this.#commits.submit(job, weight)
    if ('failure' in answer) throw writeError(answer)
    return 'results' in answer ? answer.results[0] : undefined
  }
}

function filledRow(known: KnownSpec, form: CollectionForm, [, tenant, id, body]: WalkedRow): FilledRow {
  const problems = new Problems()
  const values = readFields(known, JSON.parse(body) as Document, '/value', problems)
  problems.throwIfAny(`The stored document ${known.name}/${id}`)
  return { tenant, id, fields: columnValues(form, id, values) }
}
