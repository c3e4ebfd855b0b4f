/**
 * Handles the jobs of functions idempotently; they commit their result to the record under the lease of the job.
 *
 * LIFECYCLE-1 a job whose assets were replaced, or whose version was removed, has no effect
 */
import { createHash } from 'node:crypto'
import type { JobContext, JobHandler, JobOutcome, JobQueue, NewJob } from '#jobs'
import { AppError, type Json, messageOf } from '#kernel'
import type { Builder } from '../build.ts'
import { BuildRefusal } from '../build-refusal.ts'
import type { FunctionType, JobType } from '../contract.ts'
import type { FunctionId, FunctionRecord } from '../function-record.ts'
import { recordId } from '../function-record.ts'
import type { FunctionStore } from '../function-store.ts'
import { dataOf, type LifecycleData, storedType } from './job-data.ts'
import type { VersionRunner } from '../version-runner.ts'

export interface LifecycleDependencies {
  readonly builder: Builder
  readonly runnerOf: (type: FunctionType) => VersionRunner
  readonly store: FunctionStore
  readonly now: () => number
  readonly usesOf: (id: FunctionId) => Promise<number>
  readonly queue: () => JobQueue
  readonly changed: () => Promise<void>
}

const ATTEMPTS = 3
const BACKOFF = { delay: 500, most: 10_000 } as const
const CONCURRENCY = 2
/** ms between checks whether a deprecated plug is still used */
const RECHECK_MS = 86_400_000

type Step = (work: Work) => Promise<JobOutcome>

export function lifecycleHandlers(dependencies: LifecycleDependencies): readonly JobHandler[] {
  const handler = (type: JobType, step: Step): JobHandler => ({
    type: storedType(type),
    attempts: ATTEMPTS,
    backoff: BACKOFF,
    concurrency: CONCURRENCY,
    run: (context) => carryOut(step, new Work(dependencies, context)),
  })
  return [
    handler('build', build),
    handler('deploy', deploy),
    handler('verify', verify),
    handler('undeploy', undeploy),
    handler('scale', scale),
    handler('batch', batch),
    handler('cleanup', cleanup),
  ]
}

class Work {
  readonly dependencies: LifecycleDependencies
  readonly context: JobContext
  readonly data: LifecycleData

  constructor(dependencies: LifecycleDependencies, context: JobContext) {
    this.dependencies = dependencies
    this.context = context
    this.data = dataOf(context.job)
  }

  get store(): FunctionStore {
    return this.dependencies.store
  }

  get runner(): VersionRunner {
    return this.dependencies.runnerOf(this.data.function.functionType)
  }

  get id(): FunctionId {
    const { functionType, name, version } = this.data.function
    return { type: functionType, name, version }
  }

  /** Returns the record; undefined when the version is deleted, being removed, or has other assets now. */
  async record(): Promise<FunctionRecord | undefined> {
    const found = await this.store.find(this.id)
    return found !== undefined && this.#isAbout(found.value) ? found.value : undefined
  }

  #isAbout({ revision, updates }: FunctionRecord): boolean {
    if (revision !== this.data.revision) return false
    const { id, type } = this.context.job
    if (type === storedType('undeploy')) return true
    // updates are listed newest first
    const going = updates.findIndex(({ operation }) => operation === 'undeploy')
    const added = updates.findIndex(({ jobs = [] }) => jobs.includes(id))
    return going < 0 || (added >= 0 && added < going)
  }

  async become(
    change: Partial<FunctionRecord> | ((record: FunctionRecord) => Partial<FunctionRecord>),
  ): Promise<FunctionRecord | undefined> {
    const { context, dependencies } = this
    const commit = (writes: Parameters<JobContext['progress']>[1]) => context.progress({ done: 0, total: 1 }, writes)
    let changed: FunctionRecord | undefined
    const become = (record: FunctionRecord): FunctionRecord | undefined => {
      const { failure: _former, ...rest } = record
      changed = this.#isAbout(record)
        ? { ...rest, ...(typeof change === 'function' ? change(record) : change) }
        : undefined
      return changed
    }
    if ((await this.store.change(this.id, become, commit)) === undefined) changed = undefined
    await dependencies.changed()
    return changed
  }
}

async function carryOut(step: Step, work: Work): Promise<JobOutcome> {
  try {
    return await step(work)
  } catch (error) {
    const { job, signal } = work.context
    if (signal.aborted || (error instanceof AppError && error.code === 'CLOSED')) throw error
    const isRefusal = error instanceof BuildRefusal
    if (!isRefusal && job.attemptsMade + 1 < ATTEMPTS) throw error
    const reason = messageOf(error)
    const at = work.dependencies.now()
    await work.become(({ failures }) => ({
      status: 'failed',
      failure: { reason, log: isRefusal ? error.log : [] },
      failures: { count: (failures?.count ?? 0) + 1, at },
    }))
    return { kind: 'failed', reason }
  }
}

const SUPERSEDED: JobOutcome = { kind: 'completed', result: { status: 'superseded' } }

async function build(work: Work): Promise<JobOutcome> {
  const record = await work.record()
  if (record === undefined) return SUPERSEDED
  const assets = await work.store.assets(record.assets)
  const { digest, lock, log } = await work.runner.build(record, assets)
  const built = await work.become({ build: { digest, revision: record.revision, ...(lock && { lock }) } })
  if (built === undefined) {
    await dropBuild(work, digest)
    return SUPERSEDED
  }
  return completed({ digest, log: [...log], status: 'success' })
}

async function deploy(work: Work): Promise<JobOutcome> {
  const record = await work.record()
  if (record === undefined) return SUPERSEDED
  await work.runner.deploy(record)
  const isKnown = record.verified === record.revision
  const status = work.data.skipsVerify === true && isKnown ? 'running' : 'deployed'
  if ((await work.become({ status })) === undefined) {
    await work.runner.rest(record)
    return SUPERSEDED
  }
  const { name, version } = record
  return completed({ deploySpec: { service: `${name}@${version}`, image: record.build?.digest ?? '' } })
}

async function verify(work: Work): Promise<JobOutcome> {
  const record = await work.record()
  if (record === undefined) return SUPERSEDED
  const { signal } = work.context
  let problem: string | undefined
  try {
    problem = await work.runner.ask(record, signal)
  } catch (error) {
    if (signal.aborted || (error instanceof AppError && error.code === 'CLOSED')) throw error
    problem = messageOf(error)
  }
  if (problem === undefined) {
    const change = { status: 'running', verified: record.revision, failures: undefined } as const
    if ((await work.become(change)) === undefined) {
      await work.runner.rest(record)
      return SUPERSEDED
    }
    await work.runner.verified?.(work.id)
    return completed({ healthy: true, replicas: 1 })
  }
  const log = work.runner.lines?.(record) ?? []
  await work.become({ status: 'unhealthy', failure: { reason: problem, log: log.slice(-20) } })
  return completed({ healthy: false, reason: problem })
}

async function undeploy(work: Work): Promise<JobOutcome> {
  const { then = 'keep' } = work.data
  const found = await work.store.find(work.id)
  if (found === undefined) {
    // an earlier attempt has removed the record
    await work.runner.ended?.(work.id)
    return completed({ deployment: true, assets: true, registration: true, image: true })
  }
  const record = found.value
  // a newer version has the same name
  if (record.createdAt > work.context.job.queueTime) return SUPERSEDED
  await work.runner.rest(record)
  const isRemoved = then === 'remove'
  if (isRemoved) {
    await work.context.progress({ done: 0, total: 1 }, work.store.deleting(record, found.version))
    await work.store.dropAssets(record.assets)
  } else if (then === 'reset') await work.become({ status: 'registered', draft: true })
  else await work.become({ status: 'undeployed' })
  await work.runner.ended?.(work.id)
  if (record.build !== undefined) await dropBuild(work, record.build.digest, record)
  await work.dependencies.changed()
  return completed({ deployment: true, assets: isRemoved, registration: isRemoved, image: true })
}

/** Ends the processes of a version; the next call starts a new one. */
async function scale(work: Work): Promise<JobOutcome> {
  const record = await work.record()
  if (record !== undefined) await work.runner.rest(record)
  return completed({})
}

async function batch({ context }: Work): Promise<JobOutcome> {
  return completed({ jobCount: (await context.children()).length })
}

/** Undeploys a deprecated plug once it is unused; otherwise checks again later. */
async function cleanup(work: Work): Promise<JobOutcome> {
  const { context, dependencies, data, id } = work
  const { job, tenant } = context
  const record = (await work.store.find(id))?.value
  const isDone = record?.deprecated !== true || record.createdAt > job.queueTime
  if (isDone || ['undeploying', 'undeployed'].includes(record.status)) return completed({})
  const isUsed = (await dependencies.usesOf(id)) > 0
  // a deterministic id, so that a repeated attempt finds the job
  const next = `${tenant}$${createHash('sha256').update(job.id).digest('base64url').slice(0, 21)}`
  const queue = dependencies.queue()
  if ((await queue.get(next)) === undefined) {
    const { labels = [], user } = job
    const again: NewJob = isUsed
      ? { type: storedType('cleanup'), data, delay: RECHECK_MS }
      : { type: storedType('undeploy'), data: { ...data, operation: 'undeploy', then: 'keep' } }
    await queue.add({ ...again, id: next, labels, ...(user !== undefined && { user }) })
  }
  return completed({ scheduledJob: next })
}

async function dropBuild({ dependencies, store }: Work, digest: string, but?: FunctionId): Promise<void> {
  const others = [...(await store.indexed()).all()].filter((one) => !but || recordId(one) !== recordId(but))
  if (!others.some((one) => one.build?.digest === digest)) await dependencies.builder.remove(digest)
}

function completed(result: Json): JobOutcome {
  return { kind: 'completed', result }
}
