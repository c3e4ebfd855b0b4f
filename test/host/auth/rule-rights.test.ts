/** Rules have at most the rights of the author of their version; runs without a task have those of the caller. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Scope } from '../../../src/kernel/rights.ts'
import { basic } from '../sample-host.ts'
import { wholeHost, type WholeHost } from '../whole-host.ts'

const MISSING = 'alarms.raise needs the scope operate'

let folder: string
let host: WholeHost
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rule-rights-'))
  host = await wholeHost({ data: folder, rateLimit: '0' })
})
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** Each test has a resource, a template and a type of alarm of its own, since all share a host. */
let count = 0
let names = { resource: '', template: '', type: '' }
beforeEach(() => {
  count++
  names = { resource: `boiler-${count}`, template: `hot-${count}`, type: `HEAT-${count}` }
})

interface Pair {
  readonly key: string
  readonly secret: string
}

const keyWith = (...scopes: readonly Scope[]) => host.done<Pair>('POST', '/auth/v1/keys', { scopes })

async function send<T = object>(
  { key, secret }: Pair,
  method: 'POST' | 'PUT',
  url: string,
  payload: object,
): Promise<T> {
  const answer = await host.app.inject({ method, url, payload, headers: { authorization: basic(key, secret) } })
  if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode} ${answer.body}`)
  return answer.json<T>()
}

function graph(type: string, more: object = {}) {
  return {
    sensors: [{ label: 'any', name: 'stream', resource: '$' }],
    actuators: [
      { label: 'raise', name: 'createAlarm', resource: '$', properties: { type, text: 'hot', severity: 'MAJOR' } },
    ],
    triggers: [{ sourceLabel: 'any', destinationLabel: 'raise', statesTrigger: ['Data'] }],
    ...more,
  }
}

/** Posts a message, and returns the alarms of the type, or the error of the actuator. */
async function outcome(task: string, type: string, value = 1): Promise<unknown> {
  await host.done('POST', `/resources/${names.resource}/events`, { value })
  const both = async () => {
    const { total } = (await host.ask('GET', `/alarm/alarms?type=${type}`)).body
    const { body } = await host.ask('GET', `/api/tasks/${task}/nodes/raise`)
    return total === 0 ? JSON.stringify(body) : total
  }
  await expect.poll(both).toEqual(expect.toSatisfy((found) => found === 1 || String(found).includes(MISSING)))
  const found = await both()
  return found === 1 ? 'raised' : 'refused'
}

const started = async (by: Pair, body: object): Promise<string> =>
  (await send<{ ID: string }>(by, 'POST', '/api/tasks', body)).ID

const fromTemplate = async (template: string): Promise<string> =>
  (await host.done<{ ID: string }>('POST', '/api/tasks', { template, name: template, resource: names.resource })).ID

it.each<[readonly Scope[], string]>([
  [['publish'], 'refused'],
  [['publish', 'operate'], 'raised'],
  [['admin'], 'raised'],
])('a template by a key with %j acts with its rights', async (scopes, expected) => {
  const { template, type } = names
  await send(await keyWith(...scopes), 'POST', '/api/templates', { name: template, ...graph(type) })
  const id = await fromTemplate(template)
  expect(await outcome(id, type)).toBe(expected)
})

it('a rule without a template acts with the rights of the key that sent it', async () => {
  const { resource, type } = names
  const id = await started(await keyWith('operate'), graph(type, { task: { name: 'without', resource } }))
  expect(await outcome(id, type)).toBe('raised')
})

it('a task keeps the rights of its version until it is reloaded', async () => {
  const author = await keyWith('publish')
  const { template } = names
  await host.done('POST', '/api/templates', { name: template, ...graph('FIRST') })
  const id = await fromTemplate(template)
  await send(author, 'PUT', `/api/templates/${template}`, { name: template, ...graph('SECOND') })
  expect(await outcome(id, 'FIRST')).toBe('raised')
  await host.done('POST', `/api/tasks/${id}/command/reload`)
  expect(await outcome(id, 'SECOND', 2)).toBe('refused')
})

it('removing a key does not stop its rules, and a restart does not widen their rights', async () => {
  const [author, operator] = [await keyWith('publish'), await keyWith('publish', 'operate')]
  await send(author, 'POST', '/api/templates', { name: 'refused', ...graph('REFUSED') })
  await send(operator, 'POST', '/api/templates', { name: 'raised', ...graph('RAISED') })
  const [refused, raised] = [await fromTemplate('refused'), await fromTemplate('raised')]
  for (const { key } of [author, operator]) await host.send('DELETE', `/auth/v1/keys/${key}`)
  await host[Symbol.asyncDispose]()
  host = await wholeHost({ data: folder, rateLimit: '0' })
  expect(await outcome(raised, 'RAISED')).toBe('raised')
  expect(await outcome(refused, 'REFUSED', 2)).toBe('refused')
})

it.each([
  ['in the thread of the host', ''],
  ['in another thread', 'x'.repeat(3_000)],
])('a run of a template acts with the rights of its caller, %s', async (_where, description) => {
  const body = {
    graph: { ...graph(names.type), description },
    data: [[{ resource: names.resource, value: 1 }]],
    conf: { executeActuators: true, resource: names.resource },
  }
  const run = async (...scopes: readonly Scope[]) => {
    await send(await keyWith(...scopes), 'POST', '/api/templates/run?logLevel=DEBUG', body)
    return (await host.ask('GET', `/alarm/alarms?type=${names.type}`)).body['total']
  }
  expect([await run('author'), await run('author', 'operate')]).toEqual([0, 1])
})
