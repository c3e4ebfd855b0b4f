/** Publishes, rebuilds or verifies a version. */
import { AppError } from '#kernel'
import type { Causes, Change } from '../contract.ts'
import { type FunctionRecord, updated } from '../function-record.ts'
import type { JobType, PublishOptions, RebuildOptions, VerifyOptions } from '../function-schema.ts'
import { type ChosenRuntime, findRuntime } from '../registry/runtimes.ts'
import { withAuthor } from '../registry/tags.ts'
import { type ChangeContext, refuseGoing, type Target } from './change-context.ts'
import { deprecating } from './create-version.ts'

/** ms to wait after the first failure, doubled after each further one */
const BACKOFF = 10_000
const MAX_BACKOFF = 3_600_000

export async function publish(
  context: ChangeContext,
  { name, version }: Target,
  options: PublishOptions,
): Promise<Change> {
  const { store, type } = context
  const { comment, author, chown, deprecatePrevious } = options
  const found = await context.stored(name, version)
  if (!found.value.draft) throw new AppError('CONFLICT', `'${name}@${version}' is already published`)
  const { value: record } = await context.draft(name, version, chown)
  const runtime = findRuntime(type, { runtime: record.manifest.runtime, runtimeVersion: record.runtimeVersion })
  const problem = context.assetProblem(runtime, await store.assets(record.assets))
  if (problem !== undefined) throw problem
  const isRunning = record.status === 'running'
  // verification decides which version of a model is served
  const checked = type === 'models' ? context.plan(['verify'], record, { operation: 'publish', runtime }) : undefined
  const plan = isRunning ? checked : context.whole(record, runtime, 'publish')
  const published = updated(record, context.update('publish', { comment, plan }), {
    draft: false,
    status: isRunning ? 'running' : 'pending',
    manifest: withAuthor(record.manifest, author),
  })
  const writes = [
    ...store.putting(published, found.version),
    ...(await deprecating(context, published, deprecatePrevious)),
  ]
  await context.commit(writes, plan)
  return context.change(`Published ${context.noun} '${name}@${version}'`, published, options, { plan })
}

export async function verify(
  context: ChangeContext,
  { name, version }: Target,
  options: VerifyOptions,
): Promise<Change> {
  const { store, type } = context
  const { value: record, version: stored } = await context.stored(name, version)
  refuseGoing(record)
  const runtime = findRuntime(type, { runtime: record.manifest.runtime, runtimeVersion: record.runtimeVersion })
  const isBuilt = record.build !== undefined
  const { scaleToZero = false, comment } = options
  const scale: readonly JobType[] = scaleToZero ? ['scale'] : []
  const plan = isBuilt
    ? context.plan([...scale, 'verify'], record, { operation: 'verify', runtime })
    : context.whole(record, runtime, 'verify', { scaleToZero })
  const changed = updated(record, context.update('verify', { comment, plan }), {
    ...(!isBuilt && { status: 'pending' }),
  })
  await context.commit(store.putting(changed, stored), plan)
  return context.change(`Verifying ${context.noun} '${name}@${version}'`, changed, options, { plan })
}

export async function rebuild(
  context: ChangeContext,
  { name, version }: Target,
  options: RebuildOptions,
): Promise<Change> {
  const { store, noun } = context
  const { ignoreChecks = false, dryRun = false, comment, overrides } = options
  const { value: record, version: stored } = await context.stored(name, version)
  refuseGoing(record)
  const runtime = runtimeOfRebuild(context, record, options)
  const open = ignoreChecks ? undefined : await context.openJob(record)
  if (open !== undefined)
    throw new AppError(
      'CONFLICT',
      `'${name}@${version}' is being worked on by ${open.type} job ${open.id}; ignoreChecks=true starts another`,
    )
  const { causes, types } = causesOf(record, runtime, options, context.dependencies.now())
  const label = `${noun} '${name}@${version}'`
  const ignored = (reason: string): Promise<Change> => context.change(`${reason} ${label}`, record, options, { causes })
  if (types.length === 0) return ignored('Nothing to rebuild in')
  if (dryRun) return ignored('Can rebuild')
  const plan = context.plan(types, record, { operation: 'rebuild', runtime, skipsVerify: !types.includes('verify') })
  const changed = updated(record, context.update('rebuild', { comment, plan }), {
    status: 'pending',
    runtimeVersion: runtime.version,
    ...(overrides && { overrides }),
  })
  await context.commit(store.putting(changed, stored), plan)
  return context.change(`Rebuilding ${label}`, changed, options, { plan, causes })
}

function runtimeOfRebuild(
  context: ChangeContext,
  record: FunctionRecord,
  { upgrade = 'patch', forceVersion }: RebuildOptions,
): ChosenRuntime {
  const { runtime, runtimeVersion } = record.manifest
  if (forceVersion !== undefined) return findRuntime(context.type, { runtime, runtimeVersion: forceVersion })
  const former = record.runtimeVersion
  const range = { same: former, patch: `~${former}`, minor: `^${former}`, major: `>=${former}` }[upgrade]
  // upgrades beyond a minor version ignore the range in the manifest
  const within =
    upgrade === 'same' || upgrade === 'patch' || runtimeVersion === undefined
      ? range
      : `${range} ${upgrade === 'major' ? '' : runtimeVersion}`.trim()
  return findRuntime(context.type, { runtime, runtimeVersion: within })
}

function causesOf(
  record: FunctionRecord,
  runtime: ChosenRuntime,
  options: RebuildOptions,
  now: number,
): { readonly causes: Causes; readonly types: readonly JobType[] } {
  const {
    ignoreChecks = false,
    skipRebuild = false,
    skipVerify = false,
    forceDeploy = false,
    scaleToZero = false,
  } = options
  const { failures, status, runtimeVersion } = record
  const again = failures === undefined ? 0 : failures.at + Math.min(MAX_BACKOFF, BACKOFF * 2 ** (failures.count - 1))
  if (again > now && !ignoreChecks) {
    const reason = `it failed recently; wait ${Math.ceil((again - now) / 1_000)} s, or set ignoreChecks=true`
    return { causes: { build: { changed: false, backoff: true, reason } }, types: [] }
  }
  const isUpgraded = runtime.version !== runtimeVersion
  const isBuilt = record.build?.revision === record.revision && status !== 'failed'
  if (skipRebuild && (isUpgraded || record.build === undefined))
    throw new AppError(
      'VALIDATION',
      `skipRebuild: ${isUpgraded ? 'another version of the runtime needs a build' : 'it was never built'}`,
    )
  const build = !skipRebuild && (isUpgraded || !isBuilt || ignoreChecks)
  const isUp = ['running', 'deployed', 'unhealthy'].includes(status)
  const deploy = build || forceDeploy || !isUp || options.overrides !== undefined
  const check = !skipVerify && (deploy || status !== 'running')
  const causes: Causes = {
    build: {
      changed: build,
      reason: isUpgraded
        ? 'another version of the runtime'
        : isBuilt
          ? build
            ? 'requested'
            : 'it is built'
          : 'it is not built',
      ...(isUpgraded && { oldValue: runtimeVersion, newValue: runtime.version }),
    },
    deploy: { changed: deploy, reason: deploy ? deployReason(build, isUp, options) : 'it is deployed' },
    verify: {
      changed: check,
      reason: skipVerify ? 'left out' : check ? 'it is deployed again, or was unhealthy' : 'it is healthy',
    },
    ...(scaleToZero && { scale: { changed: true, reason: 'requested' } }),
  }
  const any = build || deploy || check
  const chain: readonly (readonly [JobType, boolean])[] = [
    ['scale', scaleToZero && any],
    ['verify', check],
    ['deploy', deploy],
    ['build', build],
  ]
  return { causes, types: chain.flatMap(([type, isWanted]) => (isWanted ? [type] : [])) }
}

function deployReason(isBuilt: boolean, isUp: boolean, { overrides, forceDeploy }: RebuildOptions): string {
  if (isBuilt) return 'it is built again'
  if (!isUp) return 'it is not deployed'
  return overrides !== undefined ? 'its deployment has changed' : forceDeploy === true ? 'requested' : 'it is deployed'
}
