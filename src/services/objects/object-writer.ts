/** Writes objects: a content is claimed and stored first, then one commit creates the object (OBJECT-1, OBJECT-2). */
import type { EffectDraft } from '#services/shared'
import { AppError, FORBIDDEN_KEYS, Issues, type Json, KeyedMutex, retryOnConflict, shown } from '#kernel'
import type { Stored, Write } from '#storage'
import { boundedContent } from './bounded-content.ts'
import {
  DEFAULT_CONTENT_TYPE,
  type ContentStore,
  type ObjectCause,
  type ObjectChange,
  type ObjectRecord,
} from './contract.ts'
import type { PutOptions, WriteCondition } from './contract.ts'
import type { UploadClaim, OrphanedContents } from './orphaned-contents.ts'
import { entryId, findObject, keyOf, objectsFrom, puttingFolders, type ObjectTable } from './object-table.ts'
import { foldersAround } from './paths.ts'

const MAX_CONTENT_TYPE = 255
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+\s*(?:;|$)/
/** bytes of all metadata names and values, as limited by S3 */
const MAX_METADATA_BYTES = 2_048
export const HEADER_TEXT = /^[\t -~\u0080-\u00ff]*$/
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,200}$/

export function checkPut({ contentType, metadata = {} }: Pick<PutOptions, 'contentType' | 'metadata'>): void {
  const issues = new Issues('OBJECT')
  if (contentType !== undefined && !isContentType(contentType)) {
    issues.wrong('/contentType', `${shown(contentType)} is not a media type`, 'write one such as text/plain')
  }
  let bytes = 0
  for (const [name, value] of Object.entries(metadata)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
    if (!HEADER_NAME.test(name) || FORBIDDEN_KEYS.has(name)) {
      issues.wrong('/metadata', `${shown(name)} is not a name`, 'use lower-case letters, digits and dashes')
    } else if (!HEADER_TEXT.test(value)) {
      issues.wrong(`/metadata/${name}`, 'has characters that are not allowed in headers', 'encode them')
    }
  }
  if (bytes > MAX_METADATA_BYTES) {
    issues.wrong('/metadata', `has ${bytes} bytes`, `at most ${MAX_METADATA_BYTES} are kept`)
  }
  issues.throwIfAny('The object')
}

function isContentType(text: string): boolean {
  return text.length <= MAX_CONTENT_TYPE && HEADER_TEXT.test(text) && MEDIA_TYPE.test(text)
}

const READ_AT_ONCE = 1_000

export interface WriterDependencies {
  readonly table: ObjectTable
  readonly contents: ContentStore
  readonly orphans: OrphanedContents
  readonly now: () => number
  readonly changed: (changes: { readonly put: number; readonly removed: number }) => void
}

interface Draft {
  readonly record: ObjectRecord
  readonly expect?: WriteCondition | undefined
  readonly cause?: ObjectCause | undefined
  /** further writes in the commit; `changes` follow the change of the object itself */
  readonly writes: () => Promise<readonly Write[]>
  readonly changes?: readonly NewChange[]
}

/** `isMade` is false for a repeated effect. */
interface Outcome {
  readonly record: ObjectRecord
  readonly isMade: boolean
}

type NewChange = Omit<ObjectChange, 'position'>

export class ObjectWriter {
  readonly #dependencies: WriterDependencies
  readonly #mutex = new KeyedMutex()
  #uploads = 0

  constructor(dependencies: WriterDependencies) {
    this.#dependencies = dependencies
  }

  get uploads(): number {
    return this.#uploads
  }

  async put(
    bucket: string,
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: PutOptions,
  ): Promise<ObjectRecord> {
    const { contentType = DEFAULT_CONTENT_TYPE, metadata, expect, length, cause } = options
    checkPut(options)
    // checked before receiving the content, and again by the commit
    checkExpected(path, expect, (await findObject(this.#dependencies.table, bucket, path))?.value)
    return this.#placing(async (claim) => {
      const { contents, now } = this.#dependencies
      const { size, etag } = await contents.put(claim.id, boundedContent(content, length), { contentType })
      const record: ObjectRecord = {
        bucket,
        path,
        etag,
        size,
        contentType,
        modified: now(),
        ...(metadata !== undefined && Object.keys(metadata).length > 0 && { metadata }),
        content: claim.id,
      }
      const ending = this.#dependencies.orphans.ending(claim)
      return this.#commit({ record, expect, cause, writes: async () => [ending] })
    })
  }

  async copy(bucket: string, target: string, source: string): Promise<ObjectRecord> {
    const found = await this.#source(bucket, source)
    if (source === target) return found.value
    return this.#placing(async (claim) => {
      if (!(await this.#dependencies.contents.copy(found.value.content, claim.id))) throw replaced(source)
      const record = { ...found.value, path: target, modified: this.#dependencies.now(), content: claim.id }
      const ending = this.#dependencies.orphans.ending(claim)
      return this.#commit({ record, writes: async () => [ending] })
    })
  }

  async move(bucket: string, target: string, source: string): Promise<ObjectRecord> {
    const found = await this.#source(bucket, source)
    if (source === target) return found.value
    const { table, now } = this.#dependencies
    const time = now()
    const record = { ...found.value, path: target, modified: time }
    const outcome = await this.#commit({
      record,
      writes: async () => {
        const current = await findObject(table, bucket, source)
        if (current?.version !== found.version) throw replaced(source)
        // the folders around the target stay, since they contain an object
        const left = await foldersWithout(table, bucket, [source], [target])
        return [table.entries.deleting(entryId(bucket, source), found.version), ...left]
      },
      changes: [{ event: 'delete', object: found.value, time }],
    })
    return outcome.record
  }

  /** Removes records of one bucket, given in order of path. Throws `CONFLICT` when one has changed. */
  async remove(stored: readonly Stored<ObjectRecord>[]): Promise<void> {
    const { table, orphans, now, changed } = this.#dependencies
    const [first] = stored
    if (first === undefined) return
    const { bucket } = first.value
    const time = now()
    const left = await foldersWithout(
      table,
      bucket,
      stored.map(({ value }) => value.path),
    )
    await table.store.commit([
      ...stored.flatMap(({ id, version, value }) => [
        table.entries.deleting(id, version),
        orphans.orphaning(value.content),
      ]),
      ...left,
      appending(
        table,
        stored.map(({ value }) => ({ event: 'delete', object: value, time })),
      ),
    ])
    orphans.wake()
    changed({ put: 0, removed: stored.length })
  }

  removeOne(bucket: string, path: string): Promise<boolean> {
    return this.#mutex.run(keyOf(bucket, path), () =>
      retryOnConflict(async () => {
        const found = await findObject(this.#dependencies.table, bucket, path)
        if (found === undefined) return false
        await this.remove([found])
        return true
      }),
    )
  }

  /** Commits a claimed content, and drops the content if no object was created for it. */
  async #placing(commit: (claim: UploadClaim) => Promise<Outcome>): Promise<ObjectRecord> {
    const { orphans } = this.#dependencies
    const claim = await orphans.claim()
    this.#uploads += 1
    try {
      const { record, isMade } = await commit(claim)
      if (!isMade) await orphans.drop(claim)
      return record
    } catch (error) {
      await orphans.drop(claim)
      throw error
    } finally {
      this.#uploads -= 1
    }
  }

  #commit(draft: Draft): Promise<Outcome> {
    const { bucket, path } = draft.record
    return this.#mutex.run(keyOf(bucket, path), () => retryOnConflict(() => this.#tryCommit(draft)))
  }

  async #tryCommit({ record, expect, cause, writes, changes = [] }: Draft): Promise<Outcome> {
    const { table, orphans, changed } = this.#dependencies
    const { bucket, path } = record
    const before = await findObject(table, bucket, path)
    checkExpected(path, expect, before?.value)
    const effects = cause && (await this.#admitted(bucket, path, cause))
    // the object may have been removed since; a repeated effect does not restore it
    if (effects === 'again') return { record: before?.value ?? record, isMade: false }
    const change: NewChange = { event: 'put', object: record, time: record.modified, ...(cause && { cause }) }
    await table.store.commit([
      table.entries.putting(entryId(bucket, path), record, before?.version ?? 'absent'),
      ...(await writes()),
      ...(before === undefined ? puttingFolders(table, bucket, path) : [orphans.orphaning(before.value.content)]),
      ...(effects?.writes() ?? []),
      appending(table, [change, ...changes]),
    ])
    if (before !== undefined) orphans.wake()
    changed({ put: 1, removed: changes.length })
    return { record, isMade: true }
  }

  async #admitted(bucket: string, path: string, cause: ObjectCause): Promise<EffectDraft | 'again'> {
    const { table, now } = this.#dependencies
    const draft = table.effects.draft(now())
    const { isAgain, note } = await draft.admit([`object:${keyOf(bucket, path)}`], cause)
    if (isAgain) return 'again'
    note()
    return draft
  }

  async #source(bucket: string, path: string): Promise<Stored<ObjectRecord>> {
    const found = await findObject(this.#dependencies.table, bucket, path)
    if (found !== undefined) return found
    throw new AppError('NOT_FOUND', `The object ${path} does not exist in the bucket ${bucket}`)
  }
}

function appending({ changes }: ObjectTable, bodies: readonly NewChange[]): Write {
  // records and causes are plain JSON, which the type does not show
  return changes.appending(bodies as readonly unknown[] as readonly Json[])
}

function checkExpected(
  path: string,
  { match, noneMatch, unmodifiedSince }: WriteCondition = {},
  found: ObjectRecord | undefined,
): void {
  const isNamed = (tags: readonly string[]) => found !== undefined && (tags.includes('*') || tags.includes(found.etag))
  if (match !== undefined && !isNamed(match)) throw unexpected(path, found, `If-Match names ${match.join(', ')}`)
  if (noneMatch !== undefined && isNamed(noneMatch)) {
    throw unexpected(path, found, `If-None-Match names ${noneMatch.join(', ')}`)
  }
  // clients know modification times in whole seconds
  const time = Math.floor((found?.modified ?? 0) / 1_000) * 1_000
  if (unmodifiedSince !== undefined && time > unmodifiedSince) {
    const at = new Date(time).toUTCString()
    throw unexpected(path, found, `it was changed at ${at}, after If-Unmodified-Since`)
  }
}

function unexpected(path: string, found: ObjectRecord | undefined, wanted: string): AppError {
  const is = found === undefined ? 'does not exist' : `has the etag ${found.etag}`
  return new AppError('PRECONDITION', `The object ${path} ${is}, ${wanted.slice(0, 300)}`)
}

function replaced(path: string): AppError {
  return new AppError('CONFLICT', `The object ${path} was replaced or removed in the meantime; retry`)
}

/** Deletes empty folders (TABLE-1); versions are read before the search, so a concurrent put conflicts. */
async function foldersWithout(
  table: ObjectTable,
  bucket: string,
  gone: readonly string[],
  made: readonly string[] = [],
): Promise<readonly Write[]> {
  const counts = new Map<string, number>()
  for (const path of gone) for (const folder of foldersAround(path)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  const versions = await versionsOf(table, bucket, [...counts.keys()])
  const isGone = new Set(gone)
  const kept = new Set(made.flatMap(foldersAround))
  const writes: Write[] = []
  // innermost first: a folder that keeps an object keeps the folders around it
  for (const [folder, count] of [...counts].sort(([a], [b]) => b.length - a.length)) {
    if (kept.has(folder)) continue
    const inside = await objectsFrom(table, bucket, folder, { limit: count + 1 })
    if (inside.some(({ value }) => !isGone.has(value.path))) {
      for (const one of foldersAround(folder)) kept.add(one)
      continue
    }
    const id = entryId(bucket, folder)
    const version = versions.get(id)
    if (version !== undefined) writes.push(table.entries.deleting(id, version))
  }
  return writes
}

async function versionsOf(
  { entries }: ObjectTable,
  bucket: string,
  folders: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const ids = folders.map((folder) => entryId(bucket, folder))
  const versions = new Map<string, number>()
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    for (const { id, version } of await entries.getMany(ids.slice(at, at + READ_AT_ONCE))) versions.set(id, version)
  }
  return versions
}
