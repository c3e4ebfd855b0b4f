/** Implements the API for the functions of one type. */
import { AppError, type Caller } from '#kernel'
import { publish, rebuild, verify } from './changes/advance-version.ts'
import { patchManifest, putAssets, removeAsset } from './changes/change-assets.ts'
import { type ApiDependencies, ChangeContext } from './changes/change-context.ts'
import { changeTags, patchDocumentation, patchMetadata, protect, tagsOf } from './changes/change-metadata.ts'
import { createVersion } from './changes/create-version.ts'
import { removeVersions } from './changes/remove-versions.ts'
import type { AssetInfo, AssetRole, FunctionsApi, FunctionType, SingleFunction, TagsApi } from './contract.ts'
import { type FunctionRecord, refuseProtected } from './function-record.ts'
import type { TagsQuery } from './function-schema.ts'
import type { FunctionStore } from './function-store.ts'
import { jobsApi } from './jobs/jobs-api.ts'
import { writeArchive } from './registry/archive.ts'
import { latestIn, list, relatedOf, shown } from './registry/find-functions.ts'
import { noTag, tagsLike } from './registry/tags.ts'
import { TYPE_NAMES } from './function-type.ts'
import { RUNTIMES } from './runtimes/catalog.ts'

export function functionApi(dependencies: ApiDependencies, who: Caller, type: FunctionType): FunctionsApi {
  const context = new ChangeContext(dependencies, who, type)
  const { store, jobs } = context
  const get = (name: string, version: string): Promise<FunctionRecord> => store.get({ type, name, version })
  const inTurn = <T>(name: string, change: () => Promise<T>): Promise<T> => store.inTurn(type, name, change)
  const single = (record: FunctionRecord, query: TagsQuery = {}): Promise<SingleFunction> =>
    singleOf(context, record, query)
  return {
    create: (upload, options = {}) => createVersion(context, upload, options),
    list: async (query) => list(await store.indexed(), type, query, who.user),
    latest: async (name, query = {}) => single(latestIn(await store.indexed(), type, name, query), query),
    get: async (name, version, query) => single(await get(name, version), query),
    content: async (name, version) => {
      const record = await get(name, version)
      refuseProtected(record, who)
      return writeArchive(await store.assets(record.assets))
    },
    assets: async (name, version, prefix = '') => {
      const record = await get(name, version)
      return record.assets.filter(({ path }) => path.startsWith(prefix)).map((one) => infoOf(record, one))
    },
    asset: async (name, version, path) => {
      const record = await get(name, version)
      const found = record.assets.find((one) => one.path === path)
      if (found === undefined)
        throw new AppError('NOT_FOUND', `'${name}@${version}' has no asset '${path.slice(0, 200)}'`)
      refuseProtected(record, who)
      return (await store.assets([found])).get(path) ?? new Uint8Array()
    },
    pathOf: async (name, version, role) => pathOfRole(await get(name, version), role),
    putAssets: (name, version, upload, options = {}) =>
      inTurn(name, () => putAssets(context, { name, version }, upload, options)),
    removeAsset: (name, version, path, options = {}) =>
      inTurn(name, () => removeAsset(context, { name, version }, path, options)),
    patchManifest: (name, version, patch, options = {}) =>
      inTurn(name, () => patchManifest(context, { name, version }, patch, options)),
    patchMetadata: async (name, version, patch, options = {}) => {
      const changed = await inTurn(name, () => patchMetadata(context, { name, version }, patch, options))
      await dependencies.runnerOf(type).described?.(changed)
      return single(changed, options)
    },
    patchDocumentation: async (name, version, patch, options = {}) =>
      single(await inTurn(name, () => patchDocumentation(context, { name, version }, patch, options)), options),
    protect: (name, version, options = {}) => inTurn(name, () => protect(context, name, version, options)),
    publish: (name, version, options = {}) => inTurn(name, () => publish(context, { name, version }, options)),
    rebuild: (name, version, options = {}) => inTurn(name, () => rebuild(context, { name, version }, options)),
    verify: (name, version, options = {}) => inTurn(name, () => verify(context, { name, version }, options)),
    remove: (name, version, options = {}) => inTurn(name, () => removeVersions(context, name, version, options)),
    tags: async (name, version, scope) => tagsOf(context, await context.chosen(name, version), scope),
    changeTags: (name, version, change, scope) => inTurn(name, () => changeTags(context, name, version, change, scope)),
    log: async (name, version) => dependencies.caller.lines(await get(name, version)),
    jobs: jobsApi(jobs, type),
    allTags: tagsApi(store),
  }
}

function infoOf(record: FunctionRecord, { path, size }: FunctionRecord['assets'][number]): AssetInfo {
  return { path, size, role: roleOf(record, path) }
}

async function singleOf(
  context: ChangeContext,
  record: FunctionRecord,
  { showTags }: TagsQuery,
): Promise<SingleFunction> {
  const indexed = await context.store.indexed()
  const showing = { tags: indexed.tags, showTags, isSingle: true }
  const isOpen = record.status === 'pending' || record.status === 'undeploying'
  const job = isOpen ? await context.openJob(record) : undefined
  const related = relatedOf(record, indexed.versions(record.type, record.name), showing)
  return { ...shown(record, showing), related, ...(job && { job }) }
}

function tagsApi(store: FunctionStore): TagsApi {
  return {
    list: async (query) => {
      const all = [...(await store.indexed()).tags.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
      return tagsLike(all, query)
    },
    get: async (name) => {
      const found = (await store.indexed()).tags.get(name)
      if (found === undefined) throw noTag(name)
      return found
    },
    dropUnused: async () => {
      const indexed = await store.indexed()
      const used = new Set<string>()
      for (const { tags } of indexed.all()) for (const tag of tags) used.add(tag)
      const unused = [...indexed.tags.values()].filter(({ name }) => !used.has(name))
      if (unused.length > 0) await store.store.commit(unused.flatMap(({ name }) => store.deletingTag(name)))
      return unused
    },
  }
}

function roleOf({ type, manifest }: FunctionRecord, path: string): AssetInfo['role'] {
  const runtime = RUNTIMES.get(manifest.runtime)
  if (path === TYPE_NAMES[type].manifestFile) return 'manifest'
  if (path === runtime?.main) return 'main'
  if (path === runtime?.project || path === runtime?.lock) return 'project'
  return path.startsWith('lib/') ? 'lib' : 'other'
}

function pathOfRole({ type, manifest }: FunctionRecord, role: AssetRole): string {
  if (role === 'manifest') return TYPE_NAMES[type].manifestFile
  const path = RUNTIMES.get(manifest.runtime)?.[role]
  if (path === undefined)
    throw new AppError('NOT_FOUND', `this host does not know which file of ${manifest.runtime} is its ${role}`)
  return path
}
