/** Changes the metadata, documentation, tags and protection of versions. */
import { AppError } from '#kernel'
import type { Removal, Tag, TagChange } from '../contract.ts'
import { type FunctionRecord, type FunctionUpdate, ownerOf, updated } from '../function-record.ts'
import type { CommentOptions, ProtectOptions, TagScope } from '../function-schema.ts'
import { noFunction } from '../function-store.ts'
import { Documentation, MAX_TAGS, metadataOf, Tags } from '../manifest-schema.ts'
import { shownTags } from '../registry/find-functions.ts'
import { noTag, tagsIn, withAuthor } from '../registry/tags.ts'
import type { ChangeContext, Target } from './change-context.ts'

export async function patchMetadata(
  context: ChangeContext,
  { name, version }: Target,
  patch: unknown,
  options: CommentOptions,
): Promise<FunctionRecord> {
  const { tags, ...fields } = metadataOf(context.type).read(patch)
  const { value: record } = await context.stored(name, version)
  const named = tags && tagsIn(tags)
  const details = { operation: 'metadata-update', options, ...(named && { tags: named }) } as const
  return changeOne(context, record, details, ({ manifest }) => ({
    manifest: { ...manifest, metadata: { ...manifest.metadata, ...fields } },
    ...(named && { tags: named.map((tag) => tag.name) }),
  }))
}

export async function patchDocumentation(
  context: ChangeContext,
  { name, version }: Target,
  patch: unknown,
  options: CommentOptions,
): Promise<FunctionRecord> {
  const fields = Documentation.read(patch)
  const { value: record } = await context.stored(name, version)
  return changeOne(context, record, { operation: 'metadata-update', options }, ({ manifest }) => {
    const documentation = { ...manifest.metadata?.documentation, ...fields }
    return { manifest: { ...manifest, metadata: { ...manifest.metadata, documentation } } }
  })
}

export async function protect(
  context: ChangeContext,
  name: string,
  version: string | undefined,
  options: ProtectOptions,
): Promise<Removal> {
  const { enable = true, chown = false } = options
  const records = await context.chosen(name, version)
  for (const record of records) {
    const isAnothers = ownerOf(record) !== context.who.user
    // only users who may read the version may remove its protection
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

export async function tagsOf(
  context: ChangeContext,
  records: readonly FunctionRecord[],
  scope: TagScope = 'all',
): Promise<readonly Tag[]> {
  const names = new Set(records.flatMap(({ tags }) => tags))
  const shared = [...names].filter((name) => scope === 'any' || records.every(({ tags }) => tags.includes(name)))
  return shownTags(shared.toSorted(), (await context.store.indexed()).tags)
}

export async function changeTags(
  context: ChangeContext,
  name: string,
  version: string | undefined,
  change: TagChange,
  scope?: TagScope,
): Promise<readonly Tag[]> {
  const records = await context.chosen(name, version)
  const tags = change.kind === 'remove' ? [] : tagsIn(Tags.read(change.tags))
  if (change.kind === 'remove' && change.name !== undefined) {
    const gone = change.name
    if (!records.some((one) => one.tags.includes(gone))) throw noTag(gone)
  }
  const names = tags.map((one) => one.name)
  const nextOf = (before: readonly string[]): readonly string[] => {
    if (change.kind === 'set') return names
    if (change.kind === 'add') {
      const all = [...new Set([...before, ...names])]
      if (all.length > MAX_TAGS) throw new AppError('VALIDATION', `a function has at most ${MAX_TAGS} tags`)
      return all
    }
    return change.kind === 'remove' && change.name !== undefined ? before.filter((one) => one !== change.name) : []
  }
  const after: FunctionRecord[] = []
  for (const record of records) {
    const details = { operation: 'metadata-update', options: {}, tags } as const
    after.push(await changeOne(context, record, details, (one) => ({ tags: nextOf(one.tags) })))
  }
  return tagsOf(context, after, scope)
}

interface ChangeDetails {
  readonly operation: FunctionUpdate['operation']
  readonly options: CommentOptions
  readonly tags?: readonly Tag[]
}

async function changeOne(
  context: ChangeContext,
  record: FunctionRecord,
  { operation, options: { comment, author }, tags = [] }: ChangeDetails,
  make: (record: FunctionRecord) => Partial<FunctionRecord>,
): Promise<FunctionRecord> {
  const newTags = await context.newTags(tags)
  const update = context.update(operation, { comment })
  const changed = await context.store.change(
    record,
    (one) => {
      const next = updated(one, update, make(one))
      return { ...next, manifest: withAuthor(next.manifest, author) }
    },
    (writes) => context.commit([...writes, ...newTags]),
  )
  if (changed === undefined) throw noFunction(context.type, record.name)
  return changed
}
