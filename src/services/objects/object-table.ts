/**
 * What is stored of the objects of one tenant: a document for each object and each folder, one for each content that no
 * object refers to, and the log of changes.
 *
 * TABLE-1 a folder has a document exactly while an object is below it: both change in the same commits
 * TABLE-2 a content that was ever placed is named by one record, or by one document of contents without a record
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

/** Between a folder and what is in it: entries of one folder lie together, in the order of their names. */
const IN_FOLDER = '\u0001'

const ENTRIES: CollectionSpec<ObjectEntry> = {
  name: 'objects',
  version: 1,
  fields: {
    // objects alone, by bucket and path
    key: { type: 'text', of: (entry) => (isFolder(entry) ? undefined : keyOf(entry.bucket, entry.path)) },
    // objects and folders, by the folder that they are in
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

/** A content that no record refers to: on its way in, or on its way out. */
export interface OrphanedContent {
  /** epoch ms by the clock of the store: whoever wrote it lets go of it then, at the latest; 0: at once */
  readonly until: number
  /** of the store, where it has sessions: a content of an earlier one is nobody's */
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

/** An upload in parts that is under way; its id is what clients name. */
export interface UploadRecord {
  readonly bucket: string
  readonly path: string
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** epoch ms by the clock of the store */
  readonly until: number
  /** it takes no part any more, and its parts go */
  readonly isOver?: boolean
}

const UPLOADS: CollectionSpec<UploadRecord> = {
  name: 'object_uploads',
  version: 1,
  fields: { until: { type: 'number', of: ({ until }) => until } },
}

/** A part that has come. */
export interface PartRecord extends UploadedPart {
  readonly upload: string
  /** claimed until the upload is over */
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
export const PARTITION = 0

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

/** What `key` and `hidden` are searched by. */
export function keyOf(bucket: string, path: string): string {
  return `${bucket}/${path}`
}

/** What `sibling` is searched by: `name` is that of an object, of a folder with its slash, or the beginning of one. */
export function siblingIn(bucket: string, folder: string, name: string): string {
  return `${bucket}/${folder}${IN_FOLDER}${name}`
}

/** Paths may be longer than ids. */
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

/** Objects whose paths begin with a prefix, in their order; `field`: `hidden` has hidden ones alone. */
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
  /** those behind this path */
  readonly after?: string
  readonly limit: number
  readonly field?: 'key' | 'hidden'
}

/** Documents of all folders around a path. Each is written, also when it is there: who removes it meanwhile is refused. */
export function puttingFolders({ entries }: ObjectTable, bucket: string, path: string): readonly Write[] {
  return foldersAround(path).map((folder) =>
    entries.putting(entryId(bucket, folder), { bucket, path: folder, isFolder: true }),
  )
}

/** The first text in byte order that comes after all that begin with this one. */
export function afterAllOf(prefix: string): string {
  const points = Array.from(prefix, (sign) => sign.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const last = points.pop() ?? 0
  // no text has halves of surrogate pairs
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
