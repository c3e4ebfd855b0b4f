/** What one caller can do with the functions of its tenant. */
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { NewJob } from '../../jobs/contract.ts'
import type { Caller } from '../../kernel/caller.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Write } from '../../storage/contract.ts'
import { asValidation, checkAssets, revisionOf } from './build.ts'
import type {
  Change,
  ChangeOptions,
  CreateOptions,
  DeprecatePolicy,
  FunctionOfJob,
  FunctionsApi,
  FunctionVersion,
  FunctionType,
  JobType,
  PublishOptions,
  Removal,
  RemoveOptions,
  Upload,
} from './contract.ts'
import type { FunctionCaller } from './function-caller.ts'
import { type FunctionId, type FunctionRecord, type FunctionUpdate, updated } from './function-record.ts'
import { TYPE_NAMES } from './function-type.ts'
import { type FunctionStore, noFunction, noVersion } from './function-store.ts'
import { jobsApi } from './jobs/jobs-api.ts'
import { type LifecycleData, storedType } from './jobs/lifecycle-jobs.ts'
import { latest, list, shown } from './registry/find-functions.ts'
import { MAX_BYTES, pathProblem, writeArchive } from './registry/archive.ts'
import { type Manifest, readManifest } from './registry/manifest.ts'
import { type TagRecord, withoutTags } from './registry/tags.ts'
import { isInRange, isPrevious, isRange, nextVersion } from './registry/versions.ts'
import { type Runtime, RUNTIMES } from './runtimes/catalog.ts'

export interface ApiDependencies {
  readonly store: FunctionStore
  readonly jobs: JobQueue
  readonly caller: FunctionCaller
  readonly now: () => number
  readonly newJobId: () => string
  readonly newSecret: () => string
  /** names that are not free: of plugs that the host itself has */
  readonly isTaken: (name: string) => boolean
  /** how many tasks and templates use it */
  readonly usesOf: (tenant: string, id: FunctionId) => Promise<number>
  readonly changed: (tenant: string) => Promise<void>
}

const MAX_NAMES = 10_000

export function functionApi(dependencies: ApiDependencies, who: Caller, type: FunctionType): FunctionsApi {
  const { store, jobs, caller } = dependencies
  const lifecycle = new Lifecycle(dependencies, who, type)
  const get = async (name: string, version: string): Promise<FunctionRecord> => store.get({ type, name, version })
  return {
    create: (upload, options = {}) => lifecycle.create(upload, options),
    list: async (query) => list(await store.indexed(), type, query, who.user),
    latest: async (name, inclusion = {}) => latest(await store.indexed(), type, name, inclusion),
    get: async (name, version) => shown(await get(name, version), await store.indexed()),
    content: async (name, version) => writeArchive(await store.assets((await get(name, version)).assets)),
    assets: async (name, version) => (await get(name, version)).assets.map(({ path, size }) => ({ path, size })),
    asset: async (name, version, path) => {
      const { assets } = await get(name, version)
      const found = assets.find((one) => one.path === path)
      if (found === undefined)
        throw new AppError('NOT_FOUND', `'${name}@${version}' has no asset '${path.slice(0, 200)}'`)
      return (await store.assets([found])).get(path) ?? new Uint8Array()
    },
    putAssets: (name, version, upload, options = {}) => lifecycle.putAssets(name, version, upload, options),
    removeAsset: (name, version, path, options = {}) => lifecycle.removeAsset(name, version, path, options),
    publish: (name, version, options = {}) => lifecycle.publish(name, version, options),
    rebuild: (name, version, options = {}) => lifecycle.again(name, version, 'rebuild', options),
    verify: (name, version, options = {}) => lifecycle.again(name, version, 'verify', options),
    remove: (name, version, options = {}) => lifecycle.remove(name, version, options),
    log: async (name, version) => caller.lines(who.tenant, await get(name, version)),
    jobs: jobsApi(jobs, type),
  }
}

class Lifecycle {
  readonly #dependencies: ApiDependencies
  readonly #who: Caller
  readonly #type: FunctionType

  constructor(dependencies: ApiDependencies, who: Caller, type: FunctionType) {
    this.#dependencies = dependencies
    this.#who = who
    this.#type = type
  }

  get #noun(): string {
    return TYPE_NAMES[this.#type].noun
  }

  get #file(): string {
    return TYPE_NAMES[this.#type].manifestFile
  }

  #id(name: string, version: string): FunctionId {
    return { type: this.#type, name, version }
  }

  async create(upload: Upload, options: CreateOptions): Promise<Change> {
    const { store, isTaken } = this.#dependencies
    const { draft = false, deploy = true, dryRun = false, comment } = options
    const manifest = {
      ...readManifest(this.#type, upload.get(this.#file)),
      ...(options.name !== undefined && { name: options.name }),
    }
    const { name } = manifest
    if (this.#type === 'plugs' && isTaken(name))
      throw new AppError('CONFLICT', `${name} is the name of a plug that every tenant has; choose another`)
    const existing = await store.versions(this.#type, name)
    if (existing.length >= MAX_NAMES) throw new AppError('CONFLICT', `${name} has ${MAX_NAMES} versions; remove some`)
    const version = versionOf(manifest, options.version, existing)
    const runtime = runtimeFor(this.#type, manifest)
    const problem = assetProblem(runtime, upload)
    if (problem !== undefined && !draft) throw problem
    const isDeployed = deploy && problem === undefined
    const stored = withVersion(upload, this.#file, manifest, version)
    const assets = dryRun ? [] : await store.putAssets(stored)
    const revision = revisionOf(assets)
    const now = this.#dependencies.now()
    const plan = isDeployed
      ? this.#tree(ofJob({ type: this.#type, name, version }, runtime), 'create', revision)
      : undefined
    const update = this.#update('create', { comment, jobs: plan?.ids })
    const { manifest: own, tags } = withoutTags({ ...manifest, version })
    const record: FunctionRecord = {
      type: this.#type,
      name,
      version,
      status: isDeployed ? 'pending' : 'registered',
      draft,
      deprecated: false,
      manifest: own,
      tags: tags.map((one) => one.name),
      runtimeVersion: runtime.versions[0].version,
      assets,
      revision,
      createdBy: this.#who.user,
      createdAt: now,
      updatedBy: this.#who.user,
      updatedAt: now,
      updates: [update],
      ...(manifest.allowHmac === true && { secret: this.#dependencies.newSecret() }),
      ...(problem && { failure: { reason: problem.message, log: [] } }),
    }
    if (dryRun)
      return { message: `'${name}@${version}' can be created`, entity: await this.#shown(record), isDone: true }
    const deprecated = draft
      ? []
      : deprecating(existing, version, options.deprecatePrevious, this.#update('deprecate', {}))
    await this.#commit(
      [...store.putting(record, 'absent'), ...(await this.#newTags(tags)), ...this.#replacing(deprecated)],
      plan,
    )
    const doing = isDeployed ? 'Building and deploying' : 'Registered'
    return this.#change(`${doing} ${this.#noun} '${name}@${version}'`, record, plan)
  }

  async putAssets(name: string, version: string, upload: Upload, options: ChangeOptions): Promise<Change> {
    for (const path of upload.keys()) {
      const problem = pathProblem(path)
      if (problem !== undefined) throw new AppError('VALIDATION', `${path.slice(0, 80)}: ${problem}`)
    }
    return this.#reassemble(name, version, options, (assets) => new Map([...assets, ...upload]))
  }

  async removeAsset(name: string, version: string, path: string, options: ChangeOptions): Promise<Change> {
    return this.#reassemble(name, version, options, (assets) => {
      if (!assets.has(path))
        throw new AppError('NOT_FOUND', `'${name}@${version}' has no asset '${path.slice(0, 200)}'`)
      const left = new Map(assets)
      left.delete(path)
      return left
    })
  }

  async publish(name: string, version: string, { deprecatePrevious, comment }: PublishOptions): Promise<Change> {
    const { store } = this.#dependencies
    const found = await store.find(this.#id(name, version))
    if (found === undefined) throw noVersion(this.#id(name, version))
    const record = found.value
    if (!record.draft) throw new AppError('CONFLICT', `'${name}@${version}' is published already`)
    const runtime = runtimeFor(this.#type, record.manifest)
    const problem = assetProblem(runtime, await store.assets(record.assets))
    if (problem !== undefined) throw problem
    const isRunning = record.status === 'running'
    const plan = isRunning
      ? undefined
      : this.#tree(ofJob({ type: this.#type, name, version }, runtime), 'publish', record.revision)
    const update = this.#update('publish', { comment, jobs: plan?.ids })
    const published = updated(record, update, { draft: false, status: isRunning ? 'running' : 'pending' })
    const others = (await store.versions(this.#type, name)).filter((one) => one.version !== version)
    const deprecated = deprecating(others, version, deprecatePrevious, this.#update('deprecate', {}))
    await this.#commit([...store.putting(published, found.version), ...this.#replacing(deprecated)], plan)
    return this.#change(`Published ${this.#noun} '${name}@${version}'`, published, plan)
  }

  /** Builds, deploys and verifies once more, or verifies alone. */
  async again(name: string, version: string, operation: 'rebuild' | 'verify', options: ChangeOptions): Promise<Change> {
    const { store } = this.#dependencies
    const found = await store.find(this.#id(name, version))
    if (found === undefined) throw noVersion(this.#id(name, version))
    const record = found.value
    if (record.status === 'undeploying') throw new AppError('CONFLICT', `'${name}@${version}' is being taken away`)
    const runtime = runtimeFor(this.#type, record.manifest)
    const isWhole = operation === 'rebuild' || record.build === undefined
    const plan = this.#tree(ofJob({ type: this.#type, name, version }, runtime), operation, record.revision, !isWhole)
    const changed = updated(record, this.#update(operation, { comment: options.comment, jobs: plan.ids }), {
      ...(isWhole && { status: 'pending' as const }),
    })
    await this.#commit(store.putting(changed, found.version), plan)
    const doing = operation === 'rebuild' ? 'Rebuilding' : 'Verifying'
    return this.#change(`${doing} ${this.#noun} '${name}@${version}'`, changed, plan)
  }

  async remove(name: string, version: string | undefined, options: RemoveOptions): Promise<Removal> {
    const { store } = this.#dependencies
    const { force = false, reset = false, undeploy, comment } = options
    if ((force && reset) || (undeploy === true && (force || reset)) || (undeploy === false && reset)) {
      throw new AppError('VALIDATION', 'force, reset and undeploy exclude each other')
    }
    const found =
      version === undefined ? await store.versions(this.#type, name) : [await store.get(this.#id(name, version))]
    if (found.length === 0) throw noFunction(this.#type, name)
    const versions = found.map((one) => one.version)
    const label = version === undefined ? `'${name}'` : `version '${name}@${version}'`
    let job: Removal['job']
    let isGoing = false
    for (const record of found) {
      // what was published is only deprecated unless more is asked for: rules may use it
      const isDropped = force || (record.draft && undeploy === undefined && !reset)
      const then = isDropped ? 'remove' : reset ? 'reset' : undeploy === true ? 'keep' : undefined
      if (then !== undefined) await this.#refuseUsed(record)
      const plan = then && this.#undeploying(record, then)
      const done = this.#update(plan === undefined ? 'deprecate' : 'undeploy', { comment, jobs: plan?.ids })
      const stored = await store.find(record)
      if (stored === undefined) continue
      const changed = updated(stored.value, done, {
        deprecated: reset ? stored.value.deprecated : true,
        ...(plan && { status: 'undeploying' as const }),
      })
      await this.#commit(store.putting(changed, stored.version), plan)
      job ??= plan && { type: 'undeploy', id: plan.ids[0] ?? '' }
      isGoing ||= plan !== undefined
    }
    const message = isGoing ? `Removing ${this.#noun} ${label}` : `Deprecated ${this.#noun} ${label}`
    return { message, versions, ...(job && { job }) }
  }

  async #reassemble(
    name: string,
    version: string,
    { deploy = true, comment }: ChangeOptions,
    make: (assets: Upload) => Upload,
  ): Promise<Change> {
    const { store } = this.#dependencies
    const found = await store.find(this.#id(name, version))
    if (found === undefined) throw noVersion(this.#id(name, version))
    const record = found.value
    if (!record.draft) throw new AppError('CONFLICT', `'${name}@${version}' is published: its assets stay as they are`)
    const whole = make(await store.assets(record.assets))
    const size = [...whole.values()].reduce((sum, one) => sum + one.length, 0)
    if (size > MAX_BYTES) throw new AppError('TOO_LARGE', `the assets are larger than ${MAX_BYTES} bytes`)
    const manifest = whole.has(this.#file) ? readManifest(this.#type, whole.get(this.#file)) : record.manifest
    const fixed = (['name', 'runtime'] as const).find((key) => manifest[key] !== record.manifest[key])
    if (fixed !== undefined || (manifest.version ?? version) !== version) {
      throw new AppError('VALIDATION', `the ${fixed ?? 'version'} of a function stays as it is; create another one`)
    }
    const runtime = runtimeFor(this.#type, manifest)
    const problem = assetProblem(runtime, whole)
    const isDeployed = deploy && problem === undefined
    const assets = await store.putAssets(withVersion(whole, this.#file, manifest, version))
    const revision = revisionOf(assets)
    const plan = isDeployed
      ? this.#tree(ofJob({ type: this.#type, name, version }, runtime), 'assets-update', revision)
      : undefined
    const { failure: _former, verified: _seen, ...rest } = record
    const { manifest: own, tags } = whole.has(this.#file)
      ? withoutTags({ ...manifest, version })
      : { manifest, tags: undefined }
    const changed = updated(rest, this.#update('assets-update', { comment, jobs: plan?.ids }), {
      manifest: own,
      ...(tags && { tags: tags.map((one) => one.name) }),
      assets,
      revision,
      status: isDeployed ? 'pending' : 'registered',
      ...(problem && { failure: { reason: problem.message, log: [] } }),
    })
    await this.#commit([...store.putting(changed, found.version), ...(await this.#newTags(tags ?? []))], plan)
    await store.dropAssets(record.assets)
    return this.#change(`Updated assets of ${this.#noun} '${name}@${version}'`, changed, plan)
  }

  async #refuseUsed({ type, name, version }: FunctionRecord): Promise<void> {
    const uses = await this.#dependencies.usesOf(this.#who.tenant, { type, name, version })
    if (uses === 0) return
    const many = uses === 1 ? 'one task or template uses' : `${uses} tasks and templates use`
    throw new AppError('CONFLICT', `${many} '${name}@${version}': let them use another version first`)
  }

  /** Tags that are not there yet; those that are stay as they are. */
  async #newTags(tags: readonly TagRecord[]): Promise<readonly Write[]> {
    const { store } = this.#dependencies
    const known = (await store.indexed()).tags
    return tags.flatMap((tag) => (known.has(tag.name) ? [] : store.puttingTag(tag)))
  }

  /** Records that become others whatever else happens to them: only flags are changed. */
  #replacing(records: readonly FunctionRecord[]): readonly Write[] {
    return records.flatMap((one) => this.#dependencies.store.putting(one, 'any'))
  }

  async #commit(writes: readonly Write[], plan: Plan | undefined): Promise<void> {
    const { store, jobs, changed } = this.#dependencies
    const added = plan && (await jobs.adding(plan.job))
    await store.store.commit([...writes, ...(added?.writes ?? [])])
    if (added !== undefined) jobs.added(added)
    await changed(this.#who.tenant)
  }

  async #shown(record: FunctionRecord): Promise<FunctionVersion> {
    return shown(record, await this.#dependencies.store.indexed())
  }

  async #change(message: string, record: FunctionRecord, plan: Plan | undefined): Promise<Change> {
    const job = plan && { type: plan.type, id: plan.ids[0] ?? '' }
    return { message, entity: await this.#shown(record), isDone: job === undefined, ...(job && { job }) }
  }

  #update(
    operation: FunctionUpdate['operation'],
    { comment, jobs }: { readonly comment?: string | undefined; readonly jobs?: readonly string[] | undefined },
  ): FunctionUpdate {
    const by = this.#who.user
    return {
      operation,
      at: this.#dependencies.now(),
      by,
      comment: (comment ?? '').slice(0, 1_000),
      ...(jobs && { jobs }),
    }
  }

  /** verify <- deploy <- build. */
  #tree(about: FunctionOfJob, operation: FunctionUpdate['operation'], revision: string, isCheck = false): Plan {
    const types: readonly JobType[] = isCheck ? ['verify'] : ['verify', 'deploy', 'build']
    return this.#plan(types, { function: about, operation, revision })
  }

  #undeploying(record: FunctionRecord, then: 'remove' | 'reset' | 'keep'): Plan {
    const about = ofJob(record, runtimeFor(this.#type, record.manifest))
    return this.#plan(['undeploy'], { function: about, operation: 'undeploy', revision: record.revision, then })
  }

  /** A chain of jobs, the root first. */
  #plan(types: readonly JobType[], data: LifecycleData): Plan {
    const ids = types.map(() => this.#dependencies.newJobId())
    const { name, version } = data.function
    const labels = [this.#type, `${this.#type}/${name}`, `${this.#type}/${name}@${version}`]
    const job = types
      .map((type, at): NewJob => ({ type: storedType(type), id: ids[at] ?? '', user: this.#who.user, data, labels }))
      .reduceRight<NewJob | undefined>(
        (child, one) => (child === undefined ? one : { ...one, children: [child] }),
        undefined,
      )
    if (job === undefined) throw new AppError('INTERNAL', 'a plan without jobs')
    return { job, type: types[0] ?? 'verify', ids }
  }
}

interface Plan {
  readonly job: NewJob
  readonly type: JobType
  /** the root first */
  readonly ids: readonly string[]
}

function versionOf(manifest: Manifest, range: string | undefined, existing: readonly FunctionRecord[]): string {
  const versions = existing.map((one) => one.version)
  if (range !== undefined && !isRange(range)) throw new AppError('VALIDATION', `"${range}" is not a range of versions`)
  if (range !== undefined || manifest.version === undefined) return nextVersion(versions, range)
  if (versions.includes(manifest.version)) {
    throw new AppError('CONFLICT', `'${manifest.name}@${manifest.version}' exists already; raise its version`)
  }
  return manifest.version
}

function runtimeFor(type: FunctionType, { runtime, runtimeVersion }: FunctionRecord['manifest']): Runtime {
  const found = RUNTIMES.get(runtime)
  if (found?.functionType !== type) {
    const known = [...RUNTIMES.values()].flatMap((one) => (one.functionType === type ? [one.name] : []))
    throw new AppError(
      'VALIDATION',
      `there is no runtime ${runtime} for ${type}; there are ${known.join(', ') || 'none'}`,
    )
  }
  if (runtimeVersion !== undefined && !found.versions.some(({ version }) => isInRange(version, runtimeVersion))) {
    throw new AppError('VALIDATION', `${runtime} has no version ${runtimeVersion}`)
  }
  return found
}

function assetProblem(runtime: Runtime, assets: Upload): AppError | undefined {
  try {
    checkAssets(runtime, assets)
    return undefined
  } catch (error) {
    const told = asValidation(error)
    if (told instanceof AppError) return told
    throw error
  }
}

/** The manifest that is stored says the version that it became. */
function withVersion(upload: Upload, file: string, manifest: Manifest, version: string): Upload {
  const isSaid = manifest.version === version && upload.has(file)
  if (isSaid) return upload
  const text = `${JSON.stringify({ ...manifest, version }, undefined, 2)}\n`
  return new Map([...upload, [file, new TextEncoder().encode(text)]])
}

function deprecating(
  versions: readonly FunctionRecord[],
  version: string,
  policy: DeprecatePolicy = 'none',
  update: FunctionUpdate,
): readonly FunctionRecord[] {
  if (policy === 'none') return []
  return versions
    .filter((one) => !one.draft && !one.deprecated && isPrevious(version, one.version, policy))
    .map((one) => updated(one, update, { deprecated: true }))
}

function ofJob({ type, name, version }: FunctionId, runtime: Runtime): FunctionOfJob {
  return { functionType: type, name, version, runtime: runtime.name, runtimeVersion: runtime.versions[0].version }
}
