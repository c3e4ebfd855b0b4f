/** Implements the API for the functions of one type. */
import { AppError, type Caller, isPlainObject } from '#kernel'
import { publish, rebuild, verify } from './changes/advance-version.ts'
import { type ApiDependencies, ChangeContext, type Target } from './changes/change-context.ts'
import { changeTags, patchDocumentation, patchMetadata, protect, tagsOf } from './changes/change-metadata.ts'
import { assembled, createVersion, withManifest } from './changes/create-version.ts'
import { removeVersions } from './changes/remove-versions.ts'
import type {
  AssetInfo,
  AssetRole,
  Change,
  FunctionsApi,
  FunctionType,
  SingleFunction,
  TagsApi,
  Upload,
} from './contract.ts'
import { type FunctionRecord, refuseProtected, updated } from './function-record.ts'
import type { AssetsOptions, TagsQuery } from './function-schema.ts'
import type { FunctionStore } from './function-store.ts'
import { TYPE_NAMES } from './function-type.ts'
import { jobsApi } from './jobs/jobs-api.ts'
import { checkManifest, type Manifest, MANIFEST_PATCHES, readManifest } from './manifest-schema.ts'
import { boundedAssets, bytesOf, pathProblem, writeArchive } from './registry/archive.ts'
import { latestIn, list, relatedOf, shown } from './registry/find-functions.ts'
import { noTag, tagsLike, withAuthor } from './registry/tags.ts'
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

/** Changes the assets and the manifest of a draft. */
function putAssets(context: ChangeContext, target: Target, upload: Upload, options: AssetsOptions): Promise<Change> {
  for (const path of upload.keys()) {
    const problem = pathProblem(path)
    if (problem !== undefined) throw new AppError('VALIDATION', `${path.slice(0, 80)}: ${problem}`)
  }
  return reassemble(context, target, options, (assets) => new Map([...assets, ...upload]))
}

function removeAsset(context: ChangeContext, target: Target, path: string, options: AssetsOptions): Promise<Change> {
  return reassemble(context, target, options, (assets) => {
    if (!assets.has(path))
      throw new AppError('NOT_FOUND', `'${target.name}@${target.version}' has no asset '${path.slice(0, 200)}'`)
    const left = new Map(assets)
    left.delete(path)
    return left
  })
}

function patchManifest(
  context: ChangeContext,
  target: Target,
  patch: unknown,
  options: AssetsOptions,
): Promise<Change> {
  const members = MANIFEST_PATCHES[context.type].read(patch)
  return reassemble(context, target, options, (assets, { manifest, tags }) => {
    const checked = checkManifest(context.type, merged({ ...manifest, tags }, members))
    return new Map([...assets, [context.manifestFile, bytesOf(`${JSON.stringify(checked, undefined, 2)}\n`)]])
  })
}

function merged(
  former: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const whole: Record<string, unknown> = { ...former }
  for (const [key, value] of Object.entries(patch)) {
    const before = whole[key]
    whole[key] = isPlainObject(value) && isPlainObject(before) ? merged(before, value) : value
  }
  return whole
}

async function reassemble(
  context: ChangeContext,
  { name, version }: Target,
  options: AssetsOptions,
  make: (assets: Upload, record: FunctionRecord) => Upload,
): Promise<Change> {
  const { store, type, manifestFile } = context
  const { value: record, version: stored } = await context.draft(name, version, options.chown)
  const whole = boundedAssets(make(await store.assets(record.assets), record))
  const isNamed = whole.has(manifestFile)
  const read = isNamed ? readManifest(type, whole.get(manifestFile)) : { ...record.manifest, tags: record.tags }
  const manifest: Manifest = withAuthor(read, options.author)
  refuseOther(record, manifest)
  const assets = isNamed ? withManifest(whole, manifestFile, { ...manifest, version }) : whole
  const assembling = { operation: 'assets-update', name, version, manifest, assets } as const
  const { update, plan, tags, change } = await assembled(context, assembling, { ...options, draft: true })
  const { failure: _former, verified: _seen, failures: _count, ...rest } = record
  const changed = updated(rest, update, change)
  await context.commit([...store.putting(changed, stored), ...(await context.newTags(tags))], plan)
  await store.dropAssets(record.assets)
  return context.change(`Updated assets of ${context.noun} '${name}@${version}'`, changed, options, { plan })
}

function refuseOther(record: FunctionRecord, manifest: Manifest): void {
  const fixed = (['name', 'runtime'] as const).find((key) => manifest[key] !== record.manifest[key])
  const isOther = fixed !== undefined || (manifest.version ?? record.version) !== record.version
  if (isOther)
    throw new AppError('VALIDATION', `the ${fixed ?? 'version'} of a function cannot change; create another function`)
}
