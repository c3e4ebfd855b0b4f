/**
 * Kills a host with a tenant's plugs with -9: pending versions are then built, and rules continue with their versions.
 */
import { expect, it } from 'vitest'
import { crashingHosts, type HostProcess } from './host-process.ts'
import { nodePlug, tarOf } from './function-host.ts'
import type { Body } from './whole-host.ts'

const hosts = crashingHosts()

async function ask({ url, headers }: HostProcess, method: string, path: string, body?: object): Promise<Body> {
  const type = Buffer.isBuffer(body) ? 'application/x-tar' : 'application/json'
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': type }) },
    ...(body && { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
  })
  return (await answer.json()) as Body
}

const plugOf = (version: string, limit: number): Promise<Buffer> =>
  tarOf(nodePlug(version, `({ state: value > ${limit} ? 'Warm' : 'Cold' })`))

it('finishes a begun build, and rules use it before and after', async () => {
  const first = await hosts.start()
  const created = await ask(first, 'POST', '/registry/v2/plugs?async=false', await plugOf('1.0.0', 25))
  expect((created['entity'] as Body)['failureReason']).toBeUndefined()
  expect(created).toMatchObject({ entity: { status: 'running' } })
  const sensors = [
    { label: 'w', resource: '$', name: 'warmth', version: '1.0.0', properties: { value: '${streamdata.temperature}' } },
  ]
  const task = await ask(first, 'POST', '/api/tasks', {
    sensors,
    task: { name: 'watch', type: 'reactive', resource: 'r1' },
  })
  const state = async (host: HostProcess): Promise<unknown> => {
    const node = await ask(host, 'GET', `/api/tasks/${String(task['ID'])}/nodes/w`)
    return (node['mostLikelyState'] as Body)['state']
  }
  await ask(first, 'POST', '/resources/r1/events', { temperature: 20 })
  await expect.poll(() => state(first)).toBe('Cold')
  // the response lists jobs that have hardly begun
  await ask(first, 'POST', '/registry/v2/plugs', await plugOf('1.1.0', 15))
  await first.kill()

  const second = await hosts.start()
  const status = async (): Promise<unknown> => {
    const { entity } = await ask(second, 'GET', '/registry/v2/plugs/warmth/versions/1.1.0')
    return (entity as Body)['status']
  }
  await expect.poll(status).toBe('running')
  await ask(second, 'POST', '/resources/r1/events', { temperature: 30 })
  await expect.poll(() => state(second)).toBe('Warm')

  const batch = {
    entity: 'task',
    action: 'updatePlugins',
    query: {},
    actionParameters: { updates: [{ name: 'warmth', fromVersion: 'any', toVersion: '1.1.0' }] },
  }
  const queued = await ask(second, 'POST', '/api/batch', batch)
  expect(queued).toMatchObject({ entity: {} })
  const version = async (): Promise<unknown> => {
    const node = await ask(second, 'GET', `/api/tasks/${String(task['ID'])}/nodes/w`)
    return (node['sensor'] as Body)['version']
  }
  await expect.poll(version).toBe('1.1.0')
  await second.kill()
})
