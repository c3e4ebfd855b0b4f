/** Changes what is said about versions and leaves their assets: metadata, documentation, tags, protection. */
import { AppError, isPlainObject, validationError } from '#kernel'
import type { CommentOptions, ProtectOptions, Removal, Tag, TagChange, TagScope } from '../contract.ts'
import { type FunctionRecord, type FunctionUpdate, ownerOf, updated } from '../function-record.ts'
import { noFunction } from '../function-store.ts'
import { checkMetadata, DocumentationSchema, problemsWith, TagsSchema } from '../registry/manifest.ts'
import { shownTags } from '../registry/find-functions.ts'
import { tagsIn } from '../registry/tags.ts'
import type { ChangeContext } from './change-context.ts'
import type { Target } from './change-assets.ts'

const MAX_TAGS = 50

export async function patchMetadata(
  context: ChangeContext,
  { name, version }: Target,
  patch: unknown,
  options: CommentOptions,
): Promise<FunctionRecord> {
  if (!isPlainObject(patch))
    throw new AppError('VALIDATION', 'send the fields of the metadata that change, as an object')
  const { tags, ...fields } = patch
  const { value: record } = await context.stored(name, version)
  const { tags: _none, ...metadata } = checkMetadata(context.type, {
    ...record.manifest.metadata,
    ...fields,
    ...(tags !== undefined && { tags }),
  })
  const named = tags === undefined ? undefined : checkedTags(tags)
  const changed = await changeOne(
    context,
    record,
    { operation: 'metadata-update', options, tags: named ?? [] },
    (one) => ({
      manifest: { ...one.manifest, metadata },
      ...(named && { tags: named.map((tag) => tag.name) }),
    }),
  )
  return changed
}

export async function patchDocumentation(
  context: ChangeContext,
  { name, version }: Target,
  patch: unknown,
  options: CommentOptions,
): Promise<FunctionRecord> {
  const { value: record } = await context.stored(name, version)
  const documentation = { ...record.manifest.metadata?.documentation, ...(isPlainObject(patch) ? patch : {}) }
  const issues = problemsWith(DocumentationSchema, isPlainObject(patch) ? documentation : patch)
  if (issues.length > 0) throw validationError('the documentation', issues)
  const changed = await changeOne(context, record, { operation: 'metadata-update', options }, (one) => ({
    manifest: { ...one.manifest, metadata: { ...one.manifest.metadata, documentation } },
  }))
  return changed
}

export async function protect(
  context: ChangeContext,
  name: string,
  version: string | undefined,
  options: ProtectOptions,
): Promise<Removal> {
  const { enable = true, chown = false } = options
  const records = await chosen(context, name, version)
  for (const record of records) {
    const isAnothers = ownerOf(record) !== context.who.user
    // whoever may not read it may not open it either
    if (isAnothers && record.draft && chown) continue
    if (isAnothers && (record.draft || record.manifest.protected === true))
      throw new AppError('FORBIDDEN', `'${name}@${record.version}' belongs to ${ownerOf(record)}`)
  }
  const operation = enable ? 'protect' : 'unprotect'
  for (const record of records) {
    await changeOne(context, record, { operation, options }, (one) => ({
      manifest: { ...one.manifest, protected: enable },
      ...(one.draft && chown && { owner: context.who.user }),
    }))
  }
  const label = version === undefined ? `'${name}'` : `'${name}@${version}'`
  const versions = records.map((one) => one.version)
  return { message: `${enable ? 'Protected' : 'Unprotected'} ${context.noun} ${label}`, versions }
}

/** Tags that any or all of the versions have. */
export async function tagsOf(
  context: ChangeContext,
  name: string,
  version: string | undefined,
  scope: TagScope = 'all',
): Promise<readonly Tag[]> {
  return together(context, await chosen(context, name, version), scope)
}

export async function changeTags(
  context: ChangeContext,
  name: string,
  version: string | undefined,
  change: TagChange,
  scope: TagScope = 'all',
): Promise<readonly Tag[]> {
  const records = await chosen(context, name, version)
  const named = change.kind === 'remove' ? [] : checkedTags(change.tags)
  if (change.kind === 'remove' && change.name !== undefined) {
    const gone = change.name
    if (!records.some(({ tags }) => tags.includes(gone))) throw noTag(gone)
  }
  const after: FunctionRecord[] = []
  for (const record of records) {
    after.push(
      await changeOne(context, record, { operation: 'metadata-update', options: {}, tags: named }, (one) => ({
        tags: nextTags(one.tags, change, named),
      })),
    )
  }
  return together(context, after, scope)
}

export function noTag(name: string): AppError {
  return new AppError('NOT_FOUND', `No tag '${name.slice(0, 100)}'`)
}

function nextTags(before: readonly string[], change: TagChange, named: readonly Tag[]): readonly string[] {
  const names = named.map((one) => one.name)
  if (change.kind === 'set') return names
  if (change.kind === 'remove') return change.name === undefined ? [] : before.filter((one) => one !== change.name)
  const all = [...new Set([...before, ...names])]
  if (all.length > MAX_TAGS) throw new AppError('VALIDATION', `a function has at most ${MAX_TAGS} tags`)
  return all
}

function checkedTags(tags: unknown): readonly Tag[] {
  const issues = problemsWith(TagsSchema, tags)
  if (issues.length > 0) throw validationError('the tags', issues)
  return tagsIn(tags as Parameters<typeof tagsIn>[0])
}

async function together(
  context: ChangeContext,
  records: readonly FunctionRecord[],
  scope: TagScope,
): Promise<readonly Tag[]> {
  const names = new Set(records.flatMap(({ tags }) => tags))
  const shared = [...names].filter((name) => scope === 'any' || records.every(({ tags }) => tags.includes(name)))
  return shownTags(shared.toSorted(), (await context.store.indexed()).tags)
}

/** One version, or all of a name. `NOT_FOUND`. */
async function chosen(
  context: ChangeContext,
  name: string,
  version: string | undefined,
): Promise<readonly FunctionRecord[]> {
  if (version !== undefined) return [(await context.stored(name, version)).value]
  const records = await context.store.versions(context.type, name)
  if (records.length === 0) throw noFunction(context.type, name)
  return records
}

interface Doing {
  readonly operation: FunctionUpdate['operation']
  readonly options: CommentOptions
  readonly tags?: readonly Tag[]
}

/** With an entry of the audit list; tried again when somebody else was faster. */
async function changeOne(
  context: ChangeContext,
  record: FunctionRecord,
  { operation, options: { comment, author }, tags = [] }: Doing,
  make: (record: FunctionRecord) => Partial<FunctionRecord>,
): Promise<FunctionRecord> {
  const newTags = await context.newTags(tags)
  const update = context.update(operation, { comment })
  const changed = await context.store.change(
    record,
    (one) => {
      const next = updated(one, update, make(one))
      if (author === undefined) return next
      return { ...next, manifest: { ...next.manifest, metadata: { ...next.manifest.metadata, author } } }
    },
    (writes) => context.commit([...writes, ...newTags]),
  )
  if (changed === undefined) throw noFunction(context.type, record.name)
  return changed
}
