/** Changes the assets and the manifest of a draft. */
import { AppError, isPlainObject } from '#kernel'
import type { Change, Upload } from '../contract.ts'
import { type FunctionRecord, updated } from '../function-record.ts'
import type { AssetsOptions } from '../function-schema.ts'
import { boundedAssets, bytesOf, pathProblem } from '../registry/archive.ts'
import { checkManifest, type Manifest, MANIFEST_PATCHES, readManifest } from '../manifest-schema.ts'
import { withAuthor } from '../registry/tags.ts'
import type { ChangeContext, Target } from './change-context.ts'
import { assembled, withManifest } from './create-version.ts'

export function putAssets(
  context: ChangeContext,
  target: Target,
  upload: Upload,
  options: AssetsOptions,
): Promise<Change> {
  for (const path of upload.keys()) {
    const problem = pathProblem(path)
    if (problem !== undefined) throw new AppError('VALIDATION', `${path.slice(0, 80)}: ${problem}`)
  }
  return reassemble(context, target, options, (assets) => new Map([...assets, ...upload]))
}

export function removeAsset(
  context: ChangeContext,
  target: Target,
  path: string,
  options: AssetsOptions,
): Promise<Change> {
  return reassemble(context, target, options, (assets) => {
    if (!assets.has(path))
      throw new AppError('NOT_FOUND', `'${target.name}@${target.version}' has no asset '${path.slice(0, 200)}'`)
    const left = new Map(assets)
    left.delete(path)
    return left
  })
}

export function patchManifest(
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
