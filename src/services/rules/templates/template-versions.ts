/** Keeps numbered versions of a template: the newest 100, and older ones with tasks. */
import { createHash } from 'node:crypto'
import type { Template } from '#core'
import type { Caller, Page } from '#kernel'
import type { Condition, Stored, Write } from '#storage'
import type { RulesCollections } from '../collections.ts'
import { documentChanges } from '../document-changes.ts'
import { templateVersionNotFound } from '../error-texts.ts'
import type { OldVersionRecord, TemplateRecord, VersionMark } from './template-record.ts'
import type { TemplateVersion } from './template-schema.ts'

/** Number of versions kept per template, including the newest; older versions with tasks are kept in addition. */
export const MAX_VERSIONS = 100
const PORTION = 1000

export function versionOf({ version, user, lastUpdateTime }: TemplateRecord): VersionMark {
  return version ?? { number: 1, user, createTime: lastUpdateTime }
}

/** Raises the version if the change affects tasks. */
export function nextVersion(
  before: TemplateRecord,
  document: Template,
  caller: Caller,
  now: number,
  note?: string,
): VersionMark {
  const version = versionOf(before)
  const isPublished = version.draft !== true
  if (isPublished && documentChanges(whatRuns(before.document), whatRuns(document)).length === 0) return version
  return markOf(nextNumber(before), caller, now, note)
}

export function nextNumber(record: TemplateRecord): number {
  return Math.max(versionOf(record).number, record.highest ?? 0) + 1
}

export function markOf(number: number, { user, rights }: Caller, createTime: number, note?: string): VersionMark {
  return { number, user, ...(rights && { rights }), createTime, ...(note !== undefined && { note }) }
}

/** Returns the writes that store a draft beside the published version. */
export function draftWrites(
  collections: RulesCollections,
  { id, value, version }: Stored<TemplateRecord>,
  document: Template,
  mark: VersionMark,
): readonly Write[] {
  return [
    collections.templates.putting(id, { ...value, highest: mark.number }, version),
    collections.oldVersions.putting(idOf(id, mark.number), { document, version: mark }),
  ]
}

/** Returns the write that removes the stored copy of a version which becomes the published one. */
export function removingStored(collections: RulesCollections, name: string, number: number): Write {
  return collections.oldVersions.deleting(idOf(name, number))
}

function whatRuns(document: Template): object {
  const { sensors = [], actuators = [], relations = [], triggers = [], notes = [] } = document
  const { variables = [], taskDefaults = {} } = document
  return { sensors, actuators, relations, triggers, notes, variables, taskDefaults }
}

/** Returns the writes to commit with a changed template: they keep the replaced version and drop old versions. */
export async function writesForOldVersion(
  collections: RulesCollections,
  before: TemplateRecord,
  next: TemplateRecord,
): Promise<readonly Write[]> {
  const { document } = before
  const version = versionOf(before)
  // a template that was never published has nothing to keep
  if (versionOf(next).number === version.number || version.draft === true) return []
  const kept = collections.oldVersions.putting(idOf(document.name, version.number), { document, version })
  return [kept, ...(await removalsUpTo(collections, document.name, versionOf(next).number - MAX_VERSIONS))]
}

async function removalsUpTo(collections: RulesCollections, name: string, upTo: number): Promise<readonly Write[]> {
  if (upTo < 1) return []
  const where: Condition[] = [...ofTemplate(name), { field: 'number', op: 'lte', value: upTo }]
  const ids = await collections.oldVersions.ids({ where, sort: [{ field: 'number' }], limit: PORTION })
  if (ids.length === 0) return []
  const used = await tasksByVersion(collections, name)
  return ids
    .filter((id) => !used.has(id.slice(id.lastIndexOf('/') + 1)))
    .map((id) => collections.oldVersions.deleting(id))
}

export async function removeOldVersions(collections: RulesCollections, name: string): Promise<readonly Write[]> {
  for (;;) {
    const ids = await collections.oldVersions.ids({ where: ofTemplate(name), limit: PORTION })
    const writes = ids.map((id) => collections.oldVersions.deleting(id))
    if (ids.length < PORTION) return writes
    await collections.commit(writes)
  }
}

export async function inVersion(
  collections: RulesCollections,
  record: TemplateRecord,
  number?: number,
): Promise<TemplateRecord> {
  if (number === undefined || number === versionOf(record).number) return record
  const old = await oldVersion(collections, record.document.name, number)
  if (old === undefined) throw templateVersionNotFound(record.document.name, number, versionOf(record).number)
  const { document, version } = old
  return { ...record, document, version, lastUpdateTime: version.createTime }
}

export async function oldVersion(
  collections: RulesCollections,
  name: string,
  number: number,
): Promise<OldVersionRecord | undefined> {
  return (await collections.oldVersions.get(idOf(name, number)))?.value
}

export async function listVersions(
  collections: RulesCollections,
  record: TemplateRecord,
  { hits, startIndex }: { readonly hits: number; readonly startIndex: number },
): Promise<Page<TemplateVersion>> {
  const { name } = record.document
  const where = ofTemplate(name)
  const showsNewest = startIndex === 0 && hits > 0
  const limit = showsNewest ? hits - 1 : hits
  const [old, count, tasks] = await Promise.all([
    limit === 0
      ? []
      : collections.oldVersions.find({
          where,
          sort: [{ field: 'number', descending: true }],
          offset: Math.max(0, startIndex - 1),
          limit,
        }),
    collections.oldVersions.count(where),
    tasksByVersion(collections, name),
  ])
  const marks = [...(showsNewest ? [versionOf(record)] : []), ...old.map(({ value }) => value.version)]
  const sorted = marks.toSorted((a, b) => b.number - a.number)
  const values = sorted.map(({ number, user, createTime, note, draft }) => ({
    version: number,
    user,
    createTime,
    ...(note !== undefined && { note }),
    ...(draft === true && { draft }),
    tasks: tasks.get(String(number)) ?? 0,
  }))
  return { values, skip: startIndex, limit: hits, total: count + 1 }
}

function tasksByVersion(collections: RulesCollections, name: string): Promise<ReadonlyMap<string, number>> {
  return collections.tasks.countBy('templateVersion', [{ field: 'template', op: 'eq', value: name }])
}

function ofTemplate(name: string): readonly Condition[] {
  return [{ field: 'template', op: 'eq', value: name }]
}

/** Hashes the name, which alone may be as long as an id can be. */
function idOf(name: string, number: number): string {
  return `${createHash('sha256').update(name).digest('hex').slice(0, 32)}/${number}`
}
