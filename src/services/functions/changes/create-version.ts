/** Creates a version from uploaded assets, on top of those of another version or an example. */
import { AppError, isPlainObject } from '#kernel'
import { revisionOf } from '../build.ts'
import type { Change, FunctionType, Upload } from '../contract.ts'
import { type FunctionRecord, type FunctionUpdate, refuseProtected, updated } from '../function-record.ts'
import type { CreateOptions, DeprecatePolicy } from '../function-schema.ts'
import { noFunction } from '../function-store.ts'
import { bytesOf } from '../registry/archive.ts'
import { TYPE_NAMES } from '../function-type.ts'
import { checkManifest, type Manifest, readManifestFile } from '../manifest-schema.ts'
import { latestOf } from '../registry/select-versions.ts'
import { withoutTags } from '../registry/tags.ts'
import { isInRange, isPrevious, isRange, isVersion, nextVersion } from '../registry/versions.ts'
import { findRuntime } from '../registry/runtimes.ts'
import type { Write } from '#storage'
import type { ChangeContext, Target } from './change-context.ts'

const MAX_OF_NAME = 10_000
const MAX_OF_TENANT = 50_000
const EXAMPLE = '!example'

interface Basis {
  readonly assets: Upload
  readonly manifest: Readonly<Record<string, unknown>>
  readonly overrides?: FunctionRecord['overrides'] | undefined
  /** range of the copied version; present when the copy has the same name */
  readonly range?: string
}

export async function createVersion(context: ChangeContext, upload: Upload, options: CreateOptions): Promise<Change> {
  const { store, type } = context
  const basis = await basisOf(context, upload, options)
  const manifest = checkManifest(type, wanted(basis.manifest, options))
  return store.inTurn(type, manifest.name, () => storeVersion(context, basis, manifest, options))
}

async function storeVersion(
  context: ChangeContext,
  basis: Basis,
  manifest: Manifest,
  options: CreateOptions,
): Promise<Change> {
  const { store, type, noun, dependencies, who } = context
  const { draft = false, dryRun = false } = options
  const { name } = manifest
  if (type === 'plugs' && dependencies.isTaken(name))
    throw new AppError('CONFLICT', `${name} is the name of a built-in plug; choose another name`)
  const indexed = await store.indexed()
  const existing = indexed.versions(type, name)
  if (existing.length >= MAX_OF_NAME)
    throw new AppError('CONFLICT', `${name} has ${MAX_OF_NAME} versions, which is the maximum; remove some`)
  if (indexed.size >= MAX_OF_TENANT)
    throw new AppError(
      'CONFLICT',
      `the tenant has ${MAX_OF_TENANT} versions of functions, which is the maximum; remove some`,
    )
  const version = versionOf(manifest, options.version ?? basis.range, existing)
  const assets = withManifest(basis.assets, context.manifestFile, { ...manifest, version })
  const made = await assembled(context, { operation: 'create', name, version, manifest, assets }, options)
  const { update, plan, tags, change } = made
  const record: FunctionRecord = {
    type,
    name,
    version,
    draft,
    deprecated: false,
    ...change,
    createdBy: who.user,
    createdAt: update.at,
    updatedBy: who.user,
    updatedAt: update.at,
    updates: [update],
    ...(basis.overrides && { overrides: basis.overrides }),
    ...(manifest.allowHmac === true && { secret: dependencies.newSecret() }),
  }
  if (dryRun) return context.change(`${noun} '${name}@${version}' can be created`, record, options)
  const writes = [...store.putting(record, 'absent'), ...(await context.newTags(tags))]
  await context.commit(
    [...writes, ...(draft ? [] : await deprecating(context, record, options.deprecatePrevious))],
    plan,
  )
  const doing = plan === undefined ? 'Registered' : 'Building and deploying'
  return context.change(`${doing} ${noun} '${name}@${version}'`, record, options, { plan })
}

interface Assembling extends Target {
  readonly operation: FunctionUpdate['operation']
  readonly manifest: Manifest
  readonly assets: Upload
}

/** Assembles the new content of a version, and its jobs. Only a draft may be impossible to build. */
export async function assembled(
  context: ChangeContext,
  { operation, name, version, manifest, assets }: Assembling,
  { draft = false, deploy = true, dryRun = false, scaleToZero, comment }: CreateOptions,
) {
  const { store, type } = context
  const runtime = findRuntime(type, manifest)
  const problem = context.assetProblem(runtime, assets)
  if (problem !== undefined && !draft) throw problem
  const isDeployed = deploy && problem === undefined
  const { manifest: stripped, tags } = withoutTags({ ...manifest, version })
  const stored = await store.putAssets(assets, dryRun)
  const revision = revisionOf(stored)
  const plan = isDeployed
    ? context.whole({ type, name, version, revision }, runtime, operation, { scaleToZero })
    : undefined
  const change = {
    status: isDeployed ? ('pending' as const) : ('registered' as const),
    manifest: stripped,
    tags: tags.map((one) => one.name),
    runtimeVersion: runtime.version,
    assets: stored,
    revision,
    ...(context.who.rights && { rights: context.who.rights }),
    ...(problem && { failure: { reason: problem.message, log: [] } }),
  }
  return { update: context.update(operation, { comment, plan }), plan, tags, change }
}

async function basisOf(context: ChangeContext, upload: Upload, options: CreateOptions): Promise<Basis> {
  const { type, manifestFile } = context
  const { copy, manifest: sent } = options
  const uploaded = upload.has(manifestFile) ? readManifestFile(type, upload.get(manifestFile)) : undefined
  if (copy === undefined) {
    if (uploaded === undefined && sent !== undefined)
      throw new AppError(
        'VALIDATION',
        'a manifest alone is not a function: upload its assets, or name a version to copy',
      )
    return { assets: upload, manifest: uploaded ?? readManifestFile(type, undefined) }
  }
  const explicit = uploaded ?? sent
  const copied = copy === EXAMPLE ? exampleOf(type, explicit, options) : await copyOf(context, copy)
  const { version: _former, ...manifest } = copied.manifest
  const isSameName = (options.name ?? explicit?.['name'] ?? manifest['name']) === manifest['name']
  return {
    assets: new Map([...copied.assets, ...upload]),
    manifest: uploaded ?? { ...manifest, ...sent },
    ...(explicit === undefined && copied.overrides && { overrides: copied.overrides }),
    ...(isSameName && explicit?.['version'] === undefined && copied.range !== undefined && { range: copied.range }),
  }
}

function exampleOf(type: FunctionType, explicit: Basis['manifest'] | undefined, { runtime }: CreateOptions): Basis {
  const named = runtime ?? explicit?.['runtime']
  if (typeof named !== 'string') throw new AppError('VALIDATION', `copy=${EXAMPLE} requires the runtime of the example`)
  const found = findRuntime(type, splitRuntime(named))
  const assets = new Map([...found.example].map(([path, text]) => [path, bytesOf(text)]))
  return { assets, manifest: readManifestFile(type, assets.get(TYPE_NAMES[type].manifestFile)) }
}

/** Returns the newest published version in a range, otherwise the newest draft. Throws `NOT_FOUND` or `FORBIDDEN`. */
async function copyOf({ store, type, who }: ChangeContext, copy: string): Promise<Basis> {
  const [name = '', rangeText] = split(copy)
  const range = rangeText ?? '*'
  if (!isRange(range)) throw new AppError('VALIDATION', `copy: "${range}" is not a range of versions`)
  const versions = (await store.indexed()).versions(type, name).filter((one) => isInRange(one.version, range))
  const found = latestOf(versions, { includeUndeployed: true })
  if (found === undefined) throw noFunction(type, copy)
  refuseProtected(found, who)
  const manifest = { ...found.manifest, tags: found.tags }
  return {
    assets: await store.assets(found.assets),
    manifest,
    overrides: found.overrides,
    range: isVersion(range) ? `~${range}` : range,
  }
}

function wanted(manifest: Basis['manifest'], { name, runtime, author }: CreateOptions): unknown {
  const { metadata } = manifest
  return {
    ...manifest,
    ...(name !== undefined && { name }),
    ...(runtime !== undefined && splitRuntime(runtime)),
    ...(author !== undefined && { metadata: { ...(isPlainObject(metadata) && metadata), author } }),
  }
}

function splitRuntime(text: string): { readonly runtime: string; readonly runtimeVersion?: string } {
  const [runtime = '', runtimeVersion] = split(text)
  return { runtime, ...(runtimeVersion !== undefined && { runtimeVersion }) }
}

function split(text: string): readonly string[] {
  const at = text.indexOf('@')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function versionOf(manifest: Manifest, range: string | undefined, existing: readonly FunctionRecord[]): string {
  const versions = existing.map((one) => one.version)
  if (range !== undefined && !isRange(range)) throw new AppError('VALIDATION', `"${range}" is not a range of versions`)
  if (range !== undefined || manifest.version === undefined) return nextVersion(versions, range)
  if (versions.includes(manifest.version)) {
    throw new AppError('CONFLICT', `'${manifest.name}@${manifest.version}' already exists; raise its version`)
  }
  return manifest.version
}

export function withManifest(assets: Upload, file: string, manifest: Manifest): Upload {
  const written = `${JSON.stringify(manifest, undefined, 2)}\n`
  const former = assets.get(file)
  const isUnchanged = former !== undefined && isSame(JSON.parse(new TextDecoder().decode(former)), manifest)
  return isUnchanged ? assets : new Map([...assets, [file, bytesOf(written)]])
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

export async function deprecating(
  context: ChangeContext,
  { name, version }: FunctionRecord,
  policy: DeprecatePolicy = TYPE_NAMES[context.type].deprecates,
): Promise<readonly Write[]> {
  if (policy === 'none') return []
  const { store, type } = context
  const update = context.update('deprecate', {})
  const before = (await store.indexed())
    .versions(type, name)
    .filter((one) => !one.draft && !one.deprecated && isPrevious(version, one.version, policy))
  const writes: Write[] = []
  for (const one of before) {
    const found = await store.find(one)
    if (found !== undefined)
      writes.push(...store.putting(updated(found.value, update, { deprecated: true }), found.version))
  }
  return writes
}
