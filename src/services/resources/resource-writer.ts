/**
 * The one way in which resources are written: read, checked, and committed with the history (T1). Writers of one
 * resource wait for each other; another host is found out by the version, and then everything is done anew.
 */
import type { Caller } from '../../kernel/caller.ts'
import type { Json } from '../../kernel/json.ts'
import type { Lanes } from '../../kernel/lanes.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Stored } from '../../storage/contract.ts'
import { textAt, type Attributes } from './attributes.ts'
import type { ChangeBook } from './change-book.ts'
import type { ResourceEntity, Versioned, WriteOptions } from './contract.ts'
import type { Enforcement } from './constraints/enforcement.ts'
import { otherVersion, problem } from './error-texts.ts'
import type { Parents } from './parents.ts'
import { checkSize } from './read-attributes.ts'
import { searchedOf, type ResourceRecord } from './resource-record.ts'
import { untilWritten } from './retry.ts'
import type { Room } from './room.ts'
import type { TypeWork } from './type-work.ts'

export interface WriterParts {
  readonly lanes: Lanes
  readonly book: ChangeBook
  readonly parents: Parents
  readonly enforcement: Enforcement
  readonly typeWork: TypeWork
}

/** Own attributes after the change; undefined deletes. */
export type Step = (
  before: ResourceEntity | undefined,
) => ResourceEntity | undefined | Promise<ResourceEntity | undefined>

export interface Written {
  readonly caller: Caller
  readonly id: string
  readonly options?: WriteOptions | undefined
  /** of a discovery */
  readonly message?: Json
  readonly cascaded?: readonly string[]
  readonly step: Step
}

export class ResourceWriter {
  readonly #parts: WriterParts

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Undefined after a deletion. */
  write(room: Room, written: Written): Promise<Versioned<ResourceEntity> | undefined> {
    const key = `${room.books.tenant}\n${written.id}`
    return this.#parts.lanes.run(key, () => untilWritten(() => this.#try(room, written)))
  }

  async #try(room: Room, written: Written): Promise<Versioned<ResourceEntity> | undefined> {
    const { id, options, step } = written
    const stored = await room.books.resources.get(id)
    checkVersion(`Resource ${id}`, stored && versionOf(stored), options)
    const before = stored && room.contacts.current(stored.value.own)
    const after = await step(before)
    if (after === undefined) {
      if (stored !== undefined) await this.#commit(room, written, stored, before, undefined)
      return undefined
    }
    checkSize(after, 'the resource')
    const record = await this.#recordOf(room, after)
    const parent = textAt(after, 'parentId')
    const commit = () => this.#commit(room, written, stored, before, record)
    const version =
      parent === undefined || (before !== undefined && textAt(before, 'parentId') === parent)
        ? await commit()
        : await this.#parts.parents.linking(room, id, parent, commit)
    return { value: after, version }
  }

  /** Throws `VALIDATION` when the constraints of its type do not hold. */
  async #recordOf(room: Room, own: ResourceEntity): Promise<ResourceRecord> {
    const typeId = textAt(own, 'resourceTypeId')
    const type = typeId === undefined ? undefined : await room.types.get(typeId)
    if (type !== undefined) await this.#parts.enforcement.check(room, own, type)
    const inherited = type && searchedOf(type.own)
    return { own, ...(inherited && { inherited }), ...(type && { typeMark: type.mark }) }
  }

  async #commit(
    room: Room,
    { caller, id, message, cascaded }: Written,
    stored: Stored<ResourceRecord> | undefined,
    before: ResourceEntity | undefined,
    record: ResourceRecord | undefined,
  ): Promise<number> {
    const { books } = room
    const noted = this.#parts.book.note(books, caller, {
      kind: 'resource',
      id,
      before,
      after: record?.own,
      ...(message !== undefined && { message }),
      ...(cascaded && { cascaded }),
    })
    const expect = stored?.version ?? 'absent'
    const write =
      record === undefined ? books.resources.deleting(id, expect) : books.resources.putting(id, record, expect)
    const { results } = await books.commit([write, ...noted.writes])
    room.resources.put(id, record)
    if (record === undefined) room.known.delete(id)
    const heard = record?.own['lastMessageTimestamp']
    room.contacts.written(id, record === undefined || typeof heard !== 'number' ? Infinity : heard)
    noted.tell()
    if (record !== undefined) this.#parts.typeWork.followUp(room, record)
    return results[0] ?? 0
  }
}

/** What an ETag shows: writes in the background do not count. */
export function versionOf({ version, value }: Stored<{ readonly beats?: number }>): number {
  return version - (value.beats ?? 0)
}

/** Throws `PRECONDITION`. */
export function checkVersion(what: string, version: number | undefined, options: WriteOptions | undefined): void {
  const wanted = options?.ifVersion
  if (wanted !== undefined && wanted !== version) throw otherVersion(what, version, wanted)
}

/** Attributes with the id of the path; null stands for nothing. Throws `VALIDATION` when the body has another id. */
export function withId(attributes: Attributes, id: string, subject: string): ResourceEntity {
  checkId(attributes, id, subject)
  return overlaid({}, attributes, id)
}

/** Throws `VALIDATION` when the body has another id than the path. */
export function checkId({ id: given }: Attributes, id: string, subject: string): void {
  if (given === undefined || given === null || given === id) return
  const message = `is ${JSON.stringify(given)}, but the path says ${JSON.stringify(id)}`
  throw refuse(subject, [problem('/id', message, 'leave it out')])
}

/** Each attribute of the patch replaces the one of that name; null removes it. */
export function patched(before: ResourceEntity, patch: Attributes): ResourceEntity {
  return overlaid(before, patch, before.id)
}

function overlaid(before: Attributes, patch: Attributes, id: string): ResourceEntity {
  const next: Record<string, Json> & { id: string } = { ...before, id }
  for (const [name, value] of Object.entries(patch)) {
    if (name === 'id') continue
    if (value === null) delete next[name]
    else next[name] = value
  }
  return next
}
