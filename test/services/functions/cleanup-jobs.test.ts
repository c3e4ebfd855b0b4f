import { describe, expect, it } from 'vitest'
import type { Job, JobContext, JobOutcome, NewJob } from '../../../src/jobs/contract.ts'
import type { FunctionRecord } from '../../../src/services/functions/function-record.ts'
import { FunctionStore } from '../../../src/services/functions/function-store.ts'
import { lifecycleHandlers, type LifecycleDependencies } from '../../../src/services/functions/jobs/lifecycle-jobs.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { recordOf } from './support/records.ts'

/** Creates a tenant with one version, whose jobs run at once. */
async function tenantWith(record: FunctionRecord, uses: number) {
  const store = new FunctionStore(openMemory().tenant('t'))
  await store.store.commit(store.putting(record, 'absent'))
  const added: NewJob[] = []
  const dependencies = {
    builder: { remove: () => Promise.resolve() },
    runnerOf: () => ({ rest: () => Promise.resolve(), ended: () => Promise.resolve() }),
    store,
    now: () => 5_000,
    usesOf: () => Promise.resolve(uses),
    queue: () => ({
      get: (id: string) => Promise.resolve(added.find((one) => one.id === id)),
      add: (job: NewJob) => Promise.resolve(added.push(job)),
    }),
    changed: () => Promise.resolve(),
  } as unknown as LifecycleDependencies
  const handlers = lifecycleHandlers(dependencies)
  const run = (type: string, { then = 'keep', queueTime = 5_000 } = {}): Promise<JobOutcome> => {
    const about = {
      functionType: 'plugs',
      name: 'p',
      version: '1.0.0',
      runtime: 'plug-node24',
      runtimeVersion: '1.0.0',
    }
    const data = { function: about, operation: 'deprecate', revision: 'r', then }
    const job = {
      id: 't$1',
      queueTime,
      data,
      labels: ['plugs'],
      user: 'anna',
      attemptsMade: 0,
      ancestors: [],
    } as unknown as Job
    const context = {
      tenant: 't',
      job,
      signal: new AbortController().signal,
      children: () => Promise.resolve([job, job]),
      progress: (_progress: unknown, writes: Parameters<JobContext['progress']>[1] = []) => store.store.commit(writes),
    } as unknown as JobContext
    return handlers.find((one) => one.type === `functions.${type}`)?.run(context) ?? expect.fail(type)
  }
  return { run, added, stored: async () => (await store.find(record))?.value }
}

const DEPRECATED = recordOf({ name: 'p', version: '1.0.0', deprecated: true })

describe('a cleanup', () => {
  it('undeploys a deprecated plug without uses, and keeps its record', async () => {
    const { run, added, stored } = await tenantWith(DEPRECATED, 0)
    const outcome = await run('cleanup')
    expect(added).toMatchObject([
      { type: 'functions.undeploy', user: 'anna', labels: ['plugs'], data: { then: 'keep', operation: 'undeploy' } },
    ])
    expect(outcome).toEqual({ kind: 'completed', result: { scheduledJob: added[0]?.id } })
    await run('undeploy')
    expect(await stored()).toMatchObject({ status: 'undeployed', deprecated: true })
  })

  it('checks again a day later while the plug is in use', async () => {
    const { run, added, stored } = await tenantWith(DEPRECATED, 2)
    await run('cleanup')
    expect(added).toMatchObject([{ type: 'functions.cleanup', delay: 86_400_000 }])
    expect(await stored()).toMatchObject({ status: 'running' })
  })

  it('that runs twice adds one job', async () => {
    const { run, added } = await tenantWith(DEPRECATED, 0)
    expect(await run('cleanup')).toEqual(await run('cleanup'))
    expect(added).toHaveLength(1)
  })

  it.each<[string, Partial<FunctionRecord>]>([
    ['is not deprecated', { deprecated: false }],
    ['is undeployed', { status: 'undeployed' }],
    ['was made after it', { createdAt: 6_000 }],
  ])('ignores a plug that %s', async (_, change) => {
    const { run, added } = await tenantWith({ ...DEPRECATED, ...change }, 0)
    expect(await run('cleanup')).toEqual({ kind: 'completed', result: {} })
    expect(added).toEqual([])
  })
})

describe('a delayed removal', () => {
  it('removes its version', async () => {
    const { run, stored } = await tenantWith(DEPRECATED, 0)
    expect(await run('undeploy', { then: 'remove' })).toEqual({
      kind: 'completed',
      result: { deployment: true, assets: true, registration: true, image: true },
    })
    expect(await stored()).toBeUndefined()
  })

  it('keeps another version that has the name meanwhile', async () => {
    const { run, stored } = await tenantWith({ ...DEPRECATED, createdAt: 6_000 }, 0)
    await run('undeploy', { then: 'remove' })
    expect(await stored()).toMatchObject({ createdAt: 6_000 })
  })
})

it('a batch completes after all its jobs', async () => {
  const { run } = await tenantWith(DEPRECATED, 0)
  expect(await run('batch')).toEqual({ kind: 'completed', result: { jobCount: 2 } })
})
