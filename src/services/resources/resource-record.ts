/** The stored form of a resource, with a copy of its type's attributes for the indexes. */
import { type Caller, decodedText, isPlainObject, isStoreConflict, type Rights, sameJson } from '#kernel'
import type { Collection, CollectionSpec, Store, Stored } from '#storage'
import { type Attributes, textFields, textAt, wordsOf } from './attributes.ts'
import type { ResourceEntity } from './contract.ts'
import { isInherited } from './denormalize.ts'

export interface ResourceRecord {
  readonly own: ResourceEntity
  /** indexed attributes of the type, as of `typeMark` */
  readonly inherited?: Attributes
  readonly typeMark?: number
  /** rights of who stored its commands and templates; absent: all rights, as for resources that are older than this field */
  readonly rights?: Rights
  /** number of background writes since the last change by a user; the ETag ignores them */
  readonly beats?: number
}

/** Text fields by which the store searches, compares and sorts. */
export const TEXT_FIELDS = [
  'name',
  'alias',
  'owner',
  'provider',
  'providerId',
  'customer',
  'firmware',
  'resourceTypeId',
] as const

const SEARCHED: ReadonlySet<string> = new Set([...TEXT_FIELDS, 'tags', 'location'])
const MAX_REFERENCES = 1_000

export const RESOURCES: CollectionSpec<ResourceRecord> = {
  name: 'resources',
  version: 1,
  audited: true,
  fields: {
    ...textFields(TEXT_FIELDS, textOf),
    resourceTypeId: { type: 'text', of: ({ own }) => textAt(own, 'resourceTypeId') },
    parentId: { type: 'text', of: ({ own }) => textAt(own, 'parentId') },
    lastMessageTimestamp: { type: 'number', of: ({ own }) => numberOf(own['lastMessageTimestamp']) },
    tags: { type: 'texts', of: tagsOf },
    references: { type: 'texts', of: referencesOf },
    location: { type: 'place', of: locationOf },
    words: { type: 'text', of: wordsIn },
    typeMark: { type: 'number', of: ({ typeMark }) => typeMark },
  },
}

export function referredId(value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined
  const target: unknown = Object.hasOwn(value, '$ref') ? value['$ref'] : undefined
  if (typeof target !== 'string' || !target.startsWith(REFERENCE)) return undefined
  return decodedText(target.slice(REFERENCE.length))
}

const REFERENCE = '/resources/'

export function searchedOf(type: Attributes): Attributes | undefined {
  const kept = Object.entries(type).filter(
    ([name, value]) => isInherited(name) && (SEARCHED.has(name) || referredId(value) !== undefined),
  )
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** Writes records in the background without changing ETags. After a conflict, returns false and writes nothing. */
export async function writeBeats(
  { resources, commit }: { readonly resources: Collection<ResourceRecord>; readonly commit: Store['commit'] },
  changed: readonly Stored<ResourceRecord>[],
): Promise<boolean> {
  try {
    await commit(
      changed.map(({ id, value, version }) =>
        resources.putting(id, { ...value, beats: (value.beats ?? 0) + 1 }, version),
      ),
    )
    return true
  } catch (error) {
    if (!isStoreConflict(error)) throw error
    return false
  }
}

/** Attributes that the host carries out */
const CODE = ['commands', 'templates']

/** Returns the rights of the author of a change, with which its commands run and its tasks are created. */
export function rightsOfCode(
  before: { readonly own: Attributes; readonly rights?: Rights } | undefined,
  after: Attributes,
  { rights }: Pick<Caller, 'rights'>,
): { readonly rights?: Rights } {
  if (!CODE.some((name) => Object.hasOwn(after, name))) return {}
  const isSame = before !== undefined && CODE.every((name) => sameJson(before.own[name] ?? null, after[name] ?? null))
  const kept = isSame ? before.rights : rights
  return kept === undefined ? {} : { rights: kept }
}

export function isSearchedAlike(before: Attributes, after: Attributes): boolean {
  return sameJson(searchedOf(before) ?? {}, searchedOf(after) ?? {})
}

function valueOf({ own, inherited }: ResourceRecord, name: string): unknown {
  if (Object.hasOwn(own, name)) return own[name]
  return inherited !== undefined && Object.hasOwn(inherited, name) ? inherited[name] : undefined
}

function textOf(record: ResourceRecord, name: string): string | undefined {
  const value = valueOf(record, name)
  return typeof value === 'string' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function tagsOf(record: ResourceRecord): readonly string[] {
  const tags = valueOf(record, 'tags')
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : []
}

function locationOf(record: ResourceRecord): { readonly lat: number; readonly lng: number } | undefined {
  const location = valueOf(record, 'location')
  if (!isPlainObject(location)) return undefined
  const { lat, lon } = location
  return typeof lat === 'number' && typeof lon === 'number' ? { lat, lng: lon } : undefined
}

function referencesOf({ own, inherited = {} }: ResourceRecord): readonly string[] {
  const ids = new Set<string>()
  for (const value of Object.values(own)) addReference(ids, value)
  for (const [name, value] of Object.entries(inherited)) if (!Object.hasOwn(own, name)) addReference(ids, value)
  return [...ids].slice(0, MAX_REFERENCES)
}

function addReference(ids: Set<string>, value: unknown): void {
  const id = referredId(value)
  if (id !== undefined && id !== '') ids.add(id)
}

function wordsIn(record: ResourceRecord): string {
  const texts = [record.own.id, ...TEXT_FIELDS.flatMap((name) => textOf(record, name) ?? []), ...tagsOf(record)]
  return wordsOf(texts)
}
