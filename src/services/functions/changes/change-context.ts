/** Provides the common needs of all changes: the caller, the store, the list of updates and the jobs. */
import type { JobQueue, NewJob } from '#jobs'
import { AppError, type Caller } from '#kernel'
import type { Stored, Write } from '#storage'
import { BuildRefusal } from '../build-refusal.ts'
import type { Causes, Change, FunctionType, JobLink, Upload } from '../contract.ts'
import type { FunctionCaller } from '../function-caller.ts'
import { type FunctionId, type FunctionRecord, type FunctionUpdate, ownerOf } from '../function-record.ts'
import type { JobType, TagsQuery } from '../function-schema.ts'
import { type FunctionStore, noFunction } from '../function-store.ts'
import { TYPE_NAMES } from '../function-type.ts'
import { type LifecycleData, shownType, storedType } from '../jobs/job-data.ts'
import type { LifecycleDependencies } from '../jobs/lifecycle-jobs.ts'
import { shown } from '../registry/find-functions.ts'
import type { TagRecord } from '../registry/tags.ts'
import type { ChosenRuntime } from '../registry/runtimes.ts'
import type { Runtime } from '../runtimes/catalog.ts'

export interface ApiDependencies extends LifecycleDependencies {
  readonly caller: FunctionCaller
  readonly newId: () => string
  /** returns 32 random bytes in base64 */
  readonly newSecret: () => string
  readonly isTaken: (name: string) => boolean
}

export interface Plan {
  readonly job: NewJob
  readonly type: JobType
  readonly ids: readonly string[]
}

export type Target = Pick<FunctionId, 'name' | 'version'>

export class ChangeContext {
  readonly dependencies: ApiDependencies
  readonly who: Caller
  readonly type: FunctionType
  readonly store: FunctionStore
  readonly jobs: JobQueue

  constructor(dependencies: ApiDependencies, who: Caller, type: FunctionType) {
    this.dependencies = dependencies
    this.who = who
    this.type = type
    this.store = dependencies.store
    this.jobs = dependencies.queue()
  }

  get noun(): string {
    return TYPE_NAMES[this.type].noun
  }

  get manifestFile(): string {
    return TYPE_NAMES[this.type].manifestFile
  }

  stored(name: string, version: string): Promise<Stored<FunctionRecord>> {
    return this.store.stored({ type: this.type, name, version })
  }

  async chosen(name: string, version: string | undefined): Promise<readonly FunctionRecord[]> {
    if (version !== undefined) return [(await this.stored(name, version)).value]
    const records = await this.store.versions(this.type, name)
    if (records.length === 0) throw noFunction(this.type, name)
    return records
  }

  /** Throws `CONFLICT` for a published version, `FORBIDDEN` for another user's draft. */
  async draft(name: string, version: string, isTaken = false): Promise<Stored<FunctionRecord>> {
    const found = await this.stored(name, version)
    const record = found.value
    if (!record.draft) throw new AppError('CONFLICT', `'${name}@${version}' is published: its assets cannot change`)
    refuseGoing(record)
    if (isTaken) return { ...found, value: { ...record, owner: this.who.user } }
    const owner = ownerOf(record)
    if (owner === this.who.user) return found
    throw new AppError('FORBIDDEN', `'${name}@${version}' is a draft of ${owner}; chown=true takes it over`)
  }

  update(
    operation: FunctionUpdate['operation'],
    { comment, plan }: { readonly comment?: string | undefined; readonly plan?: Plan | undefined },
  ): FunctionUpdate {
    const by = this.who.user
    const at = this.dependencies.now()
    return { operation, at, by, comment: (comment ?? '').slice(0, 1_000), ...(plan && { jobs: plan.ids }) }
  }

  async commit(writes: readonly Write[], ...plans: readonly (Pick<Plan, 'job'> | undefined)[]): Promise<void> {
    const { store, jobs } = this
    const added = []
    for (const plan of plans) if (plan !== undefined) added.push(await jobs.adding(plan.job))
    await store.store.commit([...writes, ...added.flatMap((one) => one.writes)])
    for (const one of added) jobs.added(one)
    await this.dependencies.changed()
  }

  async newTags(tags: readonly TagRecord[]): Promise<readonly Write[]> {
    const known = (await this.store.indexed()).tags
    return tags.flatMap((tag) => (known.has(tag.name) ? [] : this.store.puttingTag(tag)))
  }

  async change(
    message: string,
    record: FunctionRecord,
    { showTags }: TagsQuery,
    { plan, causes }: { readonly plan?: Plan | undefined; readonly causes?: Causes } = {},
  ): Promise<Change> {
    const { tags } = await this.store.indexed()
    return {
      message,
      entity: shown(record, { tags, showTags, isSingle: true }),
      isDone: plan === undefined,
      ...(causes && { causes }),
      ...(plan && { job: { type: plan.type, id: plan.ids[0] ?? '' } }),
    }
  }

  newJobId(): string {
    return `${this.who.tenant}$${this.dependencies.newId()}`
  }

  plan(types: readonly JobType[], record: FunctionId & { readonly revision: string }, data: PlanData): Plan {
    const ids = types.map(() => this.newJobId())
    const { type, name, version, revision } = record
    const labels = [type, `${type}/${name}`, `${type}/${name}@${version}`]
    const { runtime, delay, ...rest } = data
    const about = { functionType: type, name, version, runtime: runtime.name, runtimeVersion: runtime.version }
    const job = types
      .map((one, at): NewJob => ({
        type: storedType(one),
        id: ids[at] ?? '',
        user: this.who.user,
        data: { function: about, revision, ...rest } satisfies LifecycleData,
        labels,
        ...(delay !== undefined && { delay }),
      }))
      .reduceRight<NewJob | undefined>(
        (child, one) => (child === undefined ? one : { ...one, children: [child] }),
        undefined,
      )
    if (job === undefined) throw new AppError('INTERNAL', 'a plan without jobs')
    return { job, type: types[0] ?? 'verify', ids }
  }

  whole(
    record: FunctionId & { readonly revision: string },
    runtime: PlanData['runtime'],
    operation: FunctionUpdate['operation'],
    { scaleToZero = false }: { readonly scaleToZero?: boolean | undefined } = {},
  ): Plan {
    const types: readonly JobType[] = [...(scaleToZero ? (['scale'] as const) : []), 'verify', 'deploy', 'build']
    return this.plan(types, record, { operation, runtime })
  }

  assetProblem(runtime: Runtime, assets: Upload): AppError | undefined {
    try {
      this.dependencies.builder.check(runtime, assets)
      return undefined
    } catch (error) {
      if (error instanceof BuildRefusal) return new AppError('VALIDATION', error.message)
      throw error
    }
  }

  async openJob({ updates }: Pick<FunctionRecord, 'updates'>): Promise<JobLink | undefined> {
    const id = updates.find(({ jobs = [] }) => jobs.length > 0)?.jobs?.[0]
    const job = id === undefined ? undefined : await this.jobs.get(id)
    const type = job && shownType(job.type)
    if (job === undefined || type === undefined || job.state === 'completed' || job.state === 'failed') return undefined
    return { type, id: job.id }
  }
}

interface PlanData extends Omit<LifecycleData, 'function' | 'revision'> {
  readonly runtime: Pick<ChosenRuntime, 'name' | 'version'>
  /** ms before the job may start; only for a single job */
  readonly delay?: number
}

export function refuseGoing({ status, name, version }: FunctionRecord): void {
  if (status === 'undeploying') throw new AppError('CONFLICT', `'${name}@${version}' is being removed`)
}
