/** What is removed while something is at work for it stays away: nothing that ends later stores more of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Job, JobContext, JobOutcome } from '../../src/jobs/contract.ts'
import type { InternalFunctions } from '../../src/services/functions/contract.ts'
import type { FunctionRecord, FunctionUpdate } from '../../src/services/functions/function-record.ts'
import { JOB_TYPES } from '../../src/services/functions/function-schema.ts'
import { FunctionStore } from '../../src/services/functions/function-store.ts'
import { lifecycleHandlers, type LifecycleDependencies } from '../../src/services/functions/jobs/lifecycle-jobs.ts'
import { FunctionPrograms } from '../../src/services/functions/function-programs.ts'
import { Functions } from '../../src/services/functions/service.ts'
import { LoadedModels } from '../../src/services/models/loaded-models.ts'
import { Models } from '../../src/services/models/service.ts'
import type { Storage, Store } from '../../src/storage/contract.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { recordOf } from '../services/functions/support/records.ts'
import { SubscriptionsWorld, subscriptionOf, TENANT } from '../services/objects/subscriptions/world.ts'
import { TEST_SEAL, TestDriver } from '../services/models/test-driver.ts'
import { zipOf } from '../services/models/zip.ts'
import { deferred } from '../support/deferred.ts'
import { until } from '../support/until.ts'
import { testFolder } from '../support/test-folder.ts'

/** Types of jobs, and which test or rule of theirs says that what was removed stays away. */
const JOBS: Readonly<Record<string, string>> = {
  'functions.build': 'a build, a deployment and a check',
  'functions.deploy': 'a build, a deployment and a check; a model',
  'functions.verify': 'a build, a deployment and a check',
  'functions.undeploy': 'it removes; one that has its name by now is left alone (cleanup-jobs.test.ts)',
  'functions.scale': 'it stores nothing',
  'functions.batch': 'it stores nothing',
  'functions.cleanup': 'it looks at the record first, and stores nothing of it (cleanup-jobs.test.ts)',
  'functions.notify': 'nothing carries it out: its name is only shown',
  'objects.import': 'an import',
  'objects.export': 'it writes the file that it was asked for, which was not there before',
  'objects.delivery': 'a delivery',
  'alarms.batch': 'items change by the version that is stored, and never make an alarm',
  'rules.batch': 'items change by the version that is stored, and never make a task',
  'resources.operation': 'items are the requests that make or remove a resource',
}

it('every type of job is covered here', () => {
  const named = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join('src', file), 'utf8').matchAll(/_JOB = '([\w.]+)'/g)])
    .map(([, type]) => type ?? '')
  expect([...named, ...JOB_TYPES.map((type) => `functions.${type}`)].toSorted()).toEqual(Object.keys(JOBS).toSorted())
})

const MODEL = { name: 'm', framework: 'xgboost', file: zipOf({ 'model.bst': 'x' }) }
const ASSETS = new Map(
  Object.entries({
    'model.json': '{"name":"m","version":"1.0.0","runtime":"byoml-xgboost"}',
    'model.bst': 'x',
  }).map(([path, text]) => [path, new TextEncoder().encode(text)]),
)

const CALLER = { tenant: 'acme', user: 'users/1' }
let ids = 0
const newId = (): string => `id${ids++}`

function serviceOf(storage: Storage, registry: () => InternalFunctions | undefined = () => undefined) {
  const loaded = new LoadedModels([new TestDriver()])
  const service = new Models({
    tenant: 'acme',
    store: storage.tenant('acme'),
    loaded,
    now: () => 1_000,
    newId,
    seal: TEST_SEAL,
    registry,
  })
  return { service, loaded, api: service.as(CALLER) }
}

/** Models and their registry over one store, in which files of models are stored when the test lets them. */
async function models() {
  const held = deferred()
  const reached = deferred()
  const storage = holdingZips(openMemory(), () => {
    reached.resolve()
    return held.promise
  })
  const folder = testFolder(onTestFinished)
  const { service: models, loaded, api } = serviceOf(storage, () => functions)
  const functions = new Functions({
    store: storage.tenant('acme'),
    tenant: 'acme',
    programs: new FunctionPrograms({
      folder,
      environment: {},
      openPool: () => Promise.reject(new Error('models want no pool')),
    }),
    now: () => 1_000,
    newId,
    newSecret: () => '',
    isTaken: () => false,
    usesOf: () => Promise.resolve(0),
    models: () => models,
  })
  await functions.start()
  onTestFinished(async () => {
    held.resolve()
    await functions.stop()
  })
  const registry = functions.as(CALLER, 'models')
  const idle = () => until(() => functions.gauges().openJobs === 0)
  return { api, loaded, registry, held, reached, idle }
}

/** Waits for `mayGoOn` after the zip of a model was stored, before its record is. */
function holdingZips(storage: Storage, mayGoOn: () => Promise<void>): Storage {
  return withStore(storage, (store) => {
    const put: typeof store.blobs.put = async (path, ...rest) => {
      const stored = await store.blobs.put(path, ...rest)
      if (path.startsWith('models/')) await mayGoOn()
      return stored
    }
    return bound(store, 'blobs', bound(store.blobs, 'put', put))
  })
}

function withStore(storage: Storage, change: (store: Store) => Store): Storage {
  return { ...storage, tenant: (id) => change(storage.tenant(id)) }
}

function bound<T extends object>(target: T, member: keyof T, replaced: unknown): T {
  return new Proxy(target, {
    get: (_, key) => {
      if (key === member) return replaced
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

// Holds MODEL-8
describe('a model', () => {
  it('that the registry removes while a job installs it stays away', async () => {
    const { api, loaded, registry, held, reached, idle } = await models()
    await registry.create(ASSETS)
    await reached.promise
    await registry.remove('m', undefined, { force: true })
    // its removal is through, and the job that deploys it goes on
    await until(async () => (await registry.list({ status: ['any'], latest: false })).count === 0)
    held.resolve()
    await idle()
    await expect(api.get('m')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(loaded.size).toBe(0)
  })

  it('that is removed while it is uploaded stays away, and its upload reports it', async () => {
    const { api, registry, held, reached, idle } = await models()
    const uploading = api.create(MODEL)
    uploading.catch(() => undefined)
    await reached.promise
    await registry.remove('m', undefined, { force: true })
    await until(async () => (await registry.list({ status: ['any'], latest: false })).count === 0)
    held.resolve()
    await expect(uploading).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'the model m was deleted while it was uploaded; upload it again',
    })
    await idle()
    await expect(api.get('m')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('that is removed before it is loaded does not stay in memory', async () => {
    const [stored, answered] = [deferred(), deferred()]
    const storage = openMemory()
    // Another host: on this one the removal waits for the upload.
    const elsewhere = serviceOf(storage)
    const { api, loaded } = serviceOf(
      withStore(storage, (store) => {
        const commit: typeof store.commit = async (writes) => {
          const committed = await store.commit(writes)
          stored.resolve()
          await answered.promise
          return committed
        }
        return bound(store, 'commit', commit)
      }),
    )
    const uploading = api.create(MODEL)
    await stored.promise
    expect(await elsewhere.api.remove('m')).toMatchObject({ name: 'm' })
    answered.resolve()
    await uploading
    await until(() => loaded.size === 0)
  })
})

const OWN: FunctionUpdate = { operation: 'create', at: 1, by: 'anna', jobs: ['t$1'] }
const GOING: FunctionUpdate = { operation: 'undeploy', at: 2, by: 'anna', jobs: ['t$2'] }
const LATER: FunctionUpdate = { operation: 'rebuild', at: 3, by: 'anna', jobs: ['t$3'] }

/** A version, and a job of it during whose work the version becomes another one. */
async function versionAtWork(type: string, id: string, meanwhile: Partial<FunctionRecord>) {
  const store = new FunctionStore(openMemory().tenant('t'))
  const record = recordOf({ name: 'p', version: '1.0.0', status: 'pending', updates: [OWN] })
  await store.store.commit(store.putting(record, 'absent'))
  const built = new Set<string>()
  const change = async () => {
    await store.change(record, (found) => ({ ...found, ...meanwhile }))
  }
  const runner = {
    build: async () => {
      built.add('digest')
      await change()
      return { digest: 'digest', log: [] }
    },
    deploy: change,
    ask: change,
    verified: () => Promise.resolve(),
    rest: () => Promise.resolve(),
  }
  const dependencies = {
    builder: { remove: (digest: string) => Promise.resolve(built.delete(digest)) },
    runnerOf: () => runner,
    store,
    now: () => 5_000,
    changed: () => Promise.resolve(),
  } as unknown as LifecycleDependencies
  const handler = lifecycleHandlers(dependencies).find((one) => one.type === `functions.${type}`)
  const data = { function: { functionType: 'plugs', name: 'p', version: '1.0.0' }, revision: 'r' }
  const context = {
    tenant: 't',
    job: { id, type: `functions.${type}`, data, attemptsMade: 0 } as unknown as Job,
    signal: new AbortController().signal,
    progress: (_progress: unknown, writes: Parameters<JobContext['progress']>[1] = []) => store.store.commit(writes),
  } as unknown as JobContext
  const outcome: JobOutcome = (await handler?.run(context)) ?? expect.fail(type)
  return { outcome, stored: (await store.find(record))?.value, built }
}

// Holds LIFECYCLE-1
describe('a build, a deployment and a check', () => {
  const GONE = { kind: 'completed', result: { status: 'superseded' } }

  it.each(['build', 'deploy', 'verify'])('do not change a version that was removed meanwhile: %s', async (type) => {
    for (const status of ['undeploying', 'undeployed', 'registered'] as const) {
      const { outcome, stored, built } = await versionAtWork(type, 't$1', { status, updates: [GOING, OWN] })
      expect(outcome).toEqual(GONE)
      expect(stored).toMatchObject({ status })
      expect(stored).not.toHaveProperty('build')
      expect([...built]).toEqual([])
    }
  })

  it.each(['build', 'deploy', 'verify'])(
    'continue for a version that was removed before they were requested: %s',
    async (type) => {
      const { outcome, stored } = await versionAtWork(type, 't$3', { updates: [LATER, GOING, OWN] })
      expect(outcome).not.toEqual(GONE)
      expect(stored).toMatchObject(
        { build: { build: {} }, deploy: { status: 'deployed' }, verify: { status: 'running' } }[type] ?? {},
      )
    },
  )
})

describe('an import', () => {
  it('of an object that is removed before it ends leaves no report', async () => {
    const host = await new SubscriptionsWorld().host()
    await host.put('upload/a.csv', 'resource,timestamp,level\nboiler,1767225600000,1\n', 'etl-import')
    await host.objects.inside.remove('etl-import', 'upload/a.csv')
    await host.settled()
    const { entries } = await host.objects.inside.list('etl-import', '', { recursive: true })
    expect(entries).toEqual([])
    const [ended] = await host.transfers.as({ tenant: TENANT, user: 'users/1' }).imports()
    expect(ended).toMatchObject({ state: 'failed', error: expect.stringContaining('it has no report') as string })
    await host.stop()
  })
})

describe('a delivery', () => {
  it('whose subscription is removed during the call ends, and restores nothing', async () => {
    const world = new SubscriptionsWorld()
    const host = await world.host()
    const [asked, answered] = [deferred(), deferred<number>()]
    world.answering = () => {
      asked.resolve()
      return answered.promise
    }
    const { id } = await host.api.create('assets', subscriptionOf())
    await host.put('a')
    await asked.promise
    await host.api.remove('assets', id)
    answered.resolve(200)
    await host.settled()
    await expect(host.api.get('assets', id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await host.stop()
  })
})
