/** A host with plugs of a tenant, killed with -9: versions that were to be built are built, and rules go on using theirs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packTar } from 'modern-tar'
import { afterAll, expect, it } from 'vitest'
import { HostProcesses, type HostProcess } from './host-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-functions-crash-'))
const hosts = new HostProcesses(folder)
afterAll(async () => {
  await hosts.end()
  rmSync(folder, { recursive: true, force: true })
})

type Body = Record<string, unknown>

async function ask(
  { url, headers }: HostProcess,
  method: string,
  path: string,
  body?: object | Uint8Array,
): Promise<Body> {
  const isTar = body instanceof Uint8Array
  const type = isTar ? 'application/x-tar' : 'application/json'
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': type }) },
    ...(body && { body: isTar ? Buffer.from(body) : JSON.stringify(body) }),
  })
  return (await answer.json()) as Body
}

function plugOf(version: string, limit: number): Promise<Uint8Array> {
  const interfaceOf = { states: ['Warm', 'Cold'], input: [{ name: 'value', dataType: 'double' }] }
  const manifest = { name: 'warmth', version, type: 'sensor', runtime: 'plug-node24', interface: interfaceOf }
  const code = `import { definePlug } from 'reflexarc'
export const plug = definePlug({ name: 'warmth', version: '${version}', kind: 'sensor', states: ['Warm', 'Cold'],
  input: { value: { type: 'double' } }, execute: ({ properties }) => (properties.value > ${limit} ? 'Warm' : 'Cold') })`
  const files = { 'plug.json': JSON.stringify(manifest), 'package.json': '{"type":"module"}', 'index.js': code }
  return packTar(
    Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length, type: 'file' as const }, body })),
  )
}

it('builds what was begun, and rules use it before and after', async () => {
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
  // answered with its jobs, which have hardly begun
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
