/**
 * Defines the collections of objects: a document for each object, folder and orphaned content, and the log of changes.
 *
 * TABLE-1 a folder has a document exactly while an object is below it, written by the same commits
 * TABLE-2 every stored content is referenced by one record, or by one document of orphans
 */
import { createHash } from 'node:crypto'
import { EffectLedger } from '#services/shared'
import type { Collection, CollectionSpec, Log, Store, Stored, Write } from '#storage'
import type { ObjectFolder, ObjectRecord, UploadedPart } from './contract.ts'
import { folderOf, isFolderMark, foldersAround } from './paths.ts'
import { isHidden } from './contract.ts'

export type ObjectEntry = ObjectRecord | ObjectFolder

export function isFolder(entry: ObjectEntry): entry is ObjectFolder {
  return 'isFolder' in entry
}

/** Separates a folder from the names in it, so that its entries are adjacent and sorted by name. */
const IN_FOLDER = '\u0001'

const ENTRIES: CollectionSpec<ObjectEntry> = {
  name: 'objects',
  version: 1,
  audited: true,
  fields: {
    key: { type: 'text', of: (entry) => (isFolder(entry) ? undefined : keyOf(entry.bucket, entry.path)) },
    sibling: {
      type: 'text',
      of: ({ bucket, path }) => siblingIn(bucket, folderOf(path), path.slice(folderOf(path).length)),
    },
    hidden: {
      type: 'text',
      of: (entry) =>
        !isFolder(entry) && isHidden(entry.path) && !isFolderMark(entry.path)
          ? keyOf(entry.bucket, entry.path)
          : undefined,
    },
  },
}

/** A content without an object, because it is only claimed, or was replaced or removed. */
export interface OrphanedContent {
  /** epoch ms on the store's clock when the claim expires; 0 when it has ended */
  readonly until: number
  /** session of the store, if the store has sessions; the claim ends with the session */
  readonly session?: string
}

const ORPHANS: CollectionSpec<OrphanedContent> = {
  name: 'object_contents_loose',
  version: 1,
  fields: {
    until: { type: 'number', of: ({ until }) => until },
    session: { type: 'text', of: ({ session }) => session },
  },
}

export interface UploadRecord {
  readonly bucket: string
  readonly path: string
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** epoch ms by the clock of the store */
  readonly until: number
  /** true while the parts are being deleted; accepts no further parts */
  readonly isOver?: boolean
}

const UPLOADS: CollectionSpec<UploadRecord> = {
  name: 'object_uploads',
  version: 1,
  fields: { until: { type: 'number', of: ({ until }) => until } },
}

export interface PartRecord extends UploadedPart {
  readonly upload: string
  readonly content: string
}

const PARTS: CollectionSpec<PartRecord> = {
  name: 'object_parts',
  version: 1,
  fields: {
    upload: { type: 'text', of: ({ upload }) => upload },
    number: { type: 'number', of: ({ number }) => number },
  },
  together: [['upload', 'number']],
}

const CHANGE_LOG = 'object_changes'

export interface ObjectTable {
  readonly store: Store
  readonly entries: Collection<ObjectEntry>
  readonly orphans: Collection<OrphanedContent>
  readonly uploads: Collection<UploadRecord>
  readonly parts: Collection<PartRecord>
  readonly changes: Log
  readonly effects: EffectLedger
}

export function openTable(store: Store): ObjectTable {
  return {
    store,
    entries: store.collection(ENTRIES),
    orphans: store.collection(ORPHANS),
    uploads: store.collection(UPLOADS),
    parts: store.collection(PARTS),
    changes: store.log(CHANGE_LOG),
    effects: new EffectLedger(store),
  }
}

export function keyOf(bucket: string, path: string): string {
  return `${bucket}/${path}`
}

/** Value of the indexed field `sibling`. `name`: of an object, of a folder with its slash, or a prefix of either. */
export function siblingIn(bucket: string, folder: string, name: string): string {
  return `${bucket}/${folder}${IN_FOLDER}${name}`
}

export function entryId(bucket: string, path: string): string {
  return createHash('sha256').update(keyOf(bucket, path)).digest('base64url')
}

export async function findObject(
  { entries }: ObjectTable,
  bucket: string,
  path: string,
): Promise<Stored<ObjectRecord> | undefined> {
  const found = await entries.get(entryId(bucket, path))
  return found === undefined || isFolder(found.value) ? undefined : { ...found, value: found.value }
}

export async function objectsFrom(
  { entries }: ObjectTable,
  bucket: string,
  prefix: string,
  { after = '', limit, field = 'key' }: ObjectRange,
): Promise<readonly Stored<ObjectRecord>[]> {
  const start = keyOf(bucket, prefix)
  const found = await entries.find({
    where: [
      { field, op: 'gte', value: start },
      ...(after === '' ? [] : [{ field, op: 'gt', value: keyOf(bucket, after) } as const]),
      { field, op: 'lt', value: afterAllOf(start) },
    ],
    sort: [{ field }],
    limit,
  })
  return found.flatMap(({ value, ...stored }) => (isFolder(value) ? [] : [{ ...stored, value }]))
}

interface ObjectRange {
  /** exclusive */
  readonly after?: string
  readonly limit: number
  readonly field?: 'key' | 'hidden'
}

/** Rewrites all folders around a path, so that removing one of them concurrently conflicts. */
export function puttingFolders({ entries }: ObjectTable, bucket: string, path: string): readonly Write[] {
  return foldersAround(path).map((folder) =>
    entries.putting(entryId(bucket, folder), { bucket, path: folder, isFolder: true }),
  )
}

/** Returns the first text in byte order after all texts with this prefix. */
export function afterAllOf(prefix: string): string {
  const points = Array.from(prefix, (sign) => sign.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const last = points.pop() ?? 0
  // skips surrogates, which are not characters
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
