/** Tests versions of tasks without a template, on a whole host. */
import { expect, it } from 'vitest'
import type { TaskEntity, TaskPreview, TaskVersion, TaskVersionDetail } from '../../src/services/rules/contract.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

const MAX_TASK_VERSIONS = 100

const rule = (enter: number, name = 'boiler', start = true) => ({
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter, leave: 70 } },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', begins: ['On'] }],
  task: { name, type: 'reactive', resource: 'boiler', start },
})

const versions = (host: WholeHost, id: string) =>
  host.done<readonly TaskVersion[]>('GET', `/api/tasks/${id}/versions?hits=100`)

it('a task keeps its versions with author, time, note and difference', async () => {
  await using host = await wholeHost()
  const { ID: id } = await host.done<{ ID: string }>('POST', '/api/tasks?note=first', rule(90))
  await host.done('PUT', `/api/tasks/${id}?note=earlier`, rule(80), 'bob')
  await host.done('PUT', `/api/tasks/${id}`, rule(80))
  const update = { operation: 'updateProperties', tags: { plant: 'north' } }
  await host.done('PATCH', `/api/tasks?ids=${id}`, update)
  expect(await versions(host, id)).toMatchObject([
    { version: 3, user: 'acme' },
    { version: 2, user: 'bob', note: 'earlier' },
    { version: 1, user: 'acme', note: 'first' },
  ])
  expect(await host.done<TaskEntity>('GET', `/api/tasks/${id}`)).toMatchObject({ version: 3 })
  const enter = '/sensors/0/properties/enter'
  expect(await host.done<TaskVersionDetail>('GET', `/api/tasks/${id}/versions/2`)).toMatchObject({
    version: 2,
    against: 1,
    rule: { sensors: [{ name: 'hysteresis', version: expect.any(String) as unknown, properties: { enter: 80 } }] },
    changes: [{ path: enter, from: 90, to: 80 }],
    restoring: { changed: true, changes: [{ path: '/settings/tags', from: { plant: 'north' } }], lost: [] },
  })
  expect((await host.done<TaskVersionDetail>('GET', `/api/tasks/${id}/versions/1?against=3`)).changes).toMatchObject([
    { path: enter, from: 80, to: 90 },
    { path: '/settings/tags', from: { plant: 'north' } },
  ])
})

it('a version is restored as a new one, which lists the lost state before', async () => {
  await using host = await wholeHost()
  const { ID: id } = await host.done<{ ID: string }>('POST', '/api/tasks', rule(90))
  await host.done('PUT', `/api/tasks/${id}`, rule(80))
  await host.done('POST', '/resources/boiler/events', { temperature: 75 })
  const path = `/api/tasks/${id}/versions/1/restore`
  const preview = await host.done<TaskPreview>('POST', `${path}?dryRun=true`)
  expect(preview).toMatchObject({ changed: true, lost: [{ node: 'hot', what: ['state', 'memory'] }] })
  expect((await versions(host, id)).length).toBe(2)
  expect(await host.done<TaskEntity>('POST', path)).toMatchObject({
    version: 3,
    note: 'restores version 1',
    status: 'running',
    lost: preview.lost,
  })
  expect(await host.done<TaskVersionDetail>('GET', `/api/tasks/${id}/versions/3?against=1`)).toMatchObject({
    changes: [],
  })
  await host.done('POST', '/resources/boiler/events', { temperature: 85 })
  expect(await host.ask('POST', `/api/tasks/${id}/versions/9/restore`)).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining('its newest is 3') as unknown },
  })
  const stale = await host.app.inject({
    method: 'POST',
    url: path,
    headers: { authorization: `Basic ${Buffer.from('acme:s').toString('base64')}`, 'if-match': '"0"' },
  })
  expect(stale.statusCode).toBe(412)
})

it('a task made from a template refers to the versions of its template, and versions are bounded', async () => {
  await using host = await wholeHost()
  const { task: _task, ...graph } = rule(90)
  await host.done('POST', '/api/templates', { name: 'hot', ...graph })
  const made = await host.done<{ ID: string }>('POST', '/api/tasks', { template: 'hot', name: 't', resource: 'boiler' })
  expect(await host.ask('GET', `/api/tasks/${made.ID}/versions`)).toMatchObject({
    status: 400,
    body: { code: 'WRONG_STATUS', error: expect.stringContaining('/api/templates/hot/versions') as unknown },
  })
  const { ID: id } = await host.done<{ ID: string }>('POST', '/api/tasks', rule(90, 'name', false))
  for (let i = 0; i < MAX_TASK_VERSIONS; i++) await host.done('PUT', `/api/tasks/${id}`, rule(80, `name ${i}`, false))
  const kept = await versions(host, id)
  expect([kept.length, kept[0]?.version, kept.at(-1)?.version]).toEqual([MAX_TASK_VERSIONS, 101, 2])
  expect((await host.ask('GET', `/api/tasks/${id}/versions/2`)).body).not.toHaveProperty('against')
  await host.send('DELETE', `/api/tasks/${id}?forceStop=true`)
  expect((await host.ask('GET', `/api/tasks/${id}/versions`)).status).toBe(404)
})
