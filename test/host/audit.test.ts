import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AUDIT_ENTRIES } from '../../src/storage/audited-store.ts'
import { createAuditService } from '../../src/services/audit/service.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import type { AuditEntryInfo } from '../../src/services/audit/contract.ts'
import { storyHost, type StoryHost } from './api-story.ts'

let host: StoryHost
beforeAll(async () => {
  host = await storyHost()
})
afterAll(() => host.app.close())

interface Page {
  readonly values: readonly AuditEntryInfo[]
  readonly next?: string
}
const read = async (query = ''): Promise<Page> =>
  JSON.parse((await host.ask({ url: `/audit/v1/entries${query}` })).body) as Page
const send = (method: string, url: string, body: object) =>
  host.ask({ method, url, headers: { 'content-type': 'application/json' }, payload: JSON.stringify(body) })

/** Writes that change no document: messages, calculations, sessions, and states of nodes, which are inputs of a task. */
const SILENT = [
  'patchTaskNode',
  'postAction',
  'postActionVersion',
  'postAuthV1Session',
  'postBrokerMessages',
  'postBrokerMessagesQuery',
  'postBrokerResource',
  'postBrokerResourceCommands',
  'postBrokerResourceEvents',
  'postBrokerSeriesQuery',
  'postConverterConvert',
  'postConverterIngest',
  'postConverterRejected',
  'postConverterTest',
  'postData',
  'postModelPredict',
  'postQueryDataQuery',
  'postRehearsals',
  'postRulesCheck',
  'postSensor',
  'postSensorVersion',
  'postTaskNode',
  'postTaskReplay',
  'postTasklogs',
  'postTasksSimulate',
  'postTemplateDebug',
  'postTemplateRun',
  'postTemplatesDebug',
  'postTemplatesRun',
  'postVariableDeclarations',
  // their examples change nothing, or are carried out by a job
  'postAssistantMcp',
  'postSourceRejected',
  'patchTasks',
  'patchTemplates',
  'postAlarmBatch',
  'postBatch',
  'putResourceconstraint',
]

describe('the audit of a host', () => {
  it('has an entry of each write of the API that changes a document', async () => {
    const silent: string[] = []
    await host.story.prepare()
    for await (const [operation, { statusCode, body }] of host.story.tell(host.operations)) {
      expect(statusCode, body).toBeLessThan(300)
      if (operation.method === 'get') continue
      const path = host.story.urlOf(operation).split('?', 1)[0] ?? ''
      const { values } = await read(`?path=${encodeURIComponent(path)}&limit=1000`)
      const method = operation.method.toUpperCase()
      if (!values.some((entry) => entry.method === method && entry.path === path)) silent.push(operation.operationId)
    }
    expect(silent.filter((id) => !SILENT.includes(id))).toEqual([])
  }, 120_000)

  it('names user, address and method, without secrets', async () => {
    await send('POST', '/api/resources', { id: 'audited', name: 'one', apiSecret: 'hidden' })
    await send('PATCH', '/api/resources/audited', { name: 'two' })
    const { values } = await read('?path=/api/resources/audited')
    expect(values).toEqual([
      {
        id: expect.any(String) as unknown,
        time: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
        user: 'k',
        address: '127.0.0.1',
        method: 'PATCH',
        path: '/api/resources/audited',
        request: expect.any(String) as unknown,
        changes: [
          {
            collection: 'resources',
            id: 'audited',
            change: 'changed',
            difference: expect.arrayContaining([{ path: '/own/name', from: 'one', to: 'two' }]) as unknown,
          },
        ],
      },
    ])
    expect(JSON.stringify(await read('?limit=1000'))).not.toContain('hidden')
  })

  it('pages, filters and exports', async () => {
    await send('POST', '/config/query', { name: 'audited', query: { data: [{ resource: 'a', metric: 'b' }] } })
    const all = await read('?limit=1000')
    const first = await read('?limit=2')
    expect(first.values).toEqual(all.values.slice(0, 2))
    expect((await read(`?limit=2&after=${first.next}`)).values).toEqual(all.values.slice(2, 4))
    expect((await read('?who=nobody')).values).toEqual([])
    expect((await read('?until=2000-01-01')).values).toEqual([])
    expect((await read('?from=2000-01-01&path=/config')).values.length).toBeGreaterThan(0)
    const exported = (await host.ask({ url: '/audit/v1/export' })).body.trim().split('\n')
    expect(exported.map((line) => (JSON.parse(line) as AuditEntryInfo).id)).toEqual(all.values.map(({ id }) => id))
    expect((await host.ask({ method: 'DELETE', url: '/audit/v1/entries' })).statusCode).toBe(404)
  })

  it('names the user of a batch at each change that its job makes', async () => {
    const queued = await send('POST', '/api/batch', {
      entity: 'task',
      action: 'stop',
      query: { template: 'demo-overheating' },
    })
    expect(queued.statusCode, queued.body).toBe(202)
    await expect
      .poll(async () =>
        (await read('?path=jobs/&limit=1000')).values.map(({ user, changes }) => [user, changes[0]?.change]),
      )
      .toContainEqual(['k', 'changed'])
  })
})

describe('entries of the audit', () => {
  it('are removed when they are too old, in the stores of the tenant and of the host', async () => {
    const storage = openMemory()
    const [store, hostStore] = [storage.tenant('one'), storage.tenant('_host')]
    const entry = (tenant: string, at: number) => ({ tenant, user: 'u', path: '/', at, changes: [] })
    for (const one of [store, hostStore]) {
      const entries = one.collection(AUDIT_ENTRIES)
      for (const at of [1, 2, 3]) await entries.put(`${at}`, entry('one', at))
      await entries.put('4', entry('two', 1))
    }
    const audit = createAuditService({ tenant: 'one', store, hostStore, now: () => 13, age: () => 10 })
    await audit.forget()
    for (const one of [store, hostStore]) {
      expect(await one.collection(AUDIT_ENTRIES).ids({})).toEqual(['3', '4'])
    }
  })
})
