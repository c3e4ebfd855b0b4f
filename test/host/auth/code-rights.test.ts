/** Tests with which rights commands of resources run, and which keys may store rules that read secrets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wholeHost, type WholeHost } from '../whole-host.ts'
import { basic } from '../sample-host.ts'
import type { Scope } from '../../../src/kernel/rights.ts'

let host: WholeHost
const pairs = new Map<Scope, string>()

beforeAll(async () => {
  host = await wholeHost({ empty: true, rateLimit: '0' })
  for (const scope of ['operate', 'author', 'publish'] as const) {
    const { key, secret } = await host.done<{ key: string; secret: string }>('POST', '/auth/v1/keys', {
      scopes: [scope],
    })
    pairs.set(scope, basic(key, secret))
  }
  await host.done('PUT', '/vault/v1/secrets/TOKEN', { value: 'sesame-sesame' })
})
afterAll(() => host[Symbol.asyncDispose]())

async function as(scope: Scope, method: 'PUT' | 'POST' | 'PATCH', url: string, payload: object) {
  const headers = { authorization: pairs.get(scope) ?? basic('acme', 's') }
  const answer = await host.app.inject({ method, url, headers, payload })
  return { status: answer.statusCode, body: answer.json<Readonly<Record<string, unknown>>>() }
}

describe('a command of a resource type', () => {
  const type = (text: string) => ({
    commands: [
      {
        warn: {
          actuator: { name: 'createAlarm', properties: { type: 'hot', severity: 'MAJOR', text, resource: 'pump' } },
        },
      },
    ],
  })
  const results = async (): Promise<unknown> => {
    const page = await host.done<{ values: readonly { result?: object }[] }>('GET', '/api/resources/pump/commands')
    return page.values.map(({ result }) => result)
  }

  it('runs with the rights of who stored it, and with those of who changed it last', async () => {
    expect((await as('author', 'PATCH', '/api/resourcetypes/pumps', type('a'))).status).toBeLessThan(300)
    await host.done('PUT', '/api/resources/pump', { resourceTypeId: 'pumps' })
    await host.done('POST', '/resources/pump/commands', { name: 'warn' })
    const refused = expect.objectContaining({
      success: false,
      message: expect.stringContaining('alarms.raise needs the scope operate') as unknown,
    }) as unknown
    await expect.poll(results).toEqual([refused])
    // another attribute leaves the rights as they are
    await host.done('PATCH', '/api/resourcetypes/pumps', { vendor: 'Calor' })
    await host.done('POST', '/resources/pump/commands', { name: 'warn' })
    await expect.poll(results).toEqual([refused, refused])
    await host.done('PATCH', '/api/resourcetypes/pumps', type('b'))
    await host.done('POST', '/resources/pump/commands', { name: 'warn' })
    const done = expect.objectContaining({ success: true }) as unknown
    await expect.poll(results).toEqual([done, refused, refused])
  })
})

describe('a rule that reads a secret', () => {
  const rule = (message: string) => ({
    sensors: [
      { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'a', threshold: 0 } },
    ],
    actuators: [
      { label: 'say', name: 'log', properties: { message } },
      { label: 'note', name: 'log', properties: { message: 'fired' } },
    ],
    triggers: ['say', 'note'].map((destinationLabel) => ({
      sourceLabel: 'hot',
      destinationLabel,
      statesTrigger: ['Above'],
    })),
  })
  const nodes = (label: string, message: string) => [
    { name: 'hot', properties: { actions: [{ label, requiredProperties: { message } }] } },
  ]
  const task = { name: 'reads', type: 'reactive', resource: 'tank' }
  const lacks = (label: string) => ({
    status: 403,
    body: { code: 'FORBIDDEN', error: expect.stringContaining(`reads secrets of the vault in ${label}`) as unknown },
  })

  it('is stored only with a key that may publish', async () => {
    expect(await as('operate', 'POST', '/api/tasks', { ...rule('${vault.TOKEN}'), task })).toMatchObject(lacks('say'))
    expect(await as('operate', 'POST', '/api/tasks', { ...rule('hot'), task })).toMatchObject({ status: 201 })
    expect(await as('admin', 'POST', '/api/tasks', { ...rule('${vault.TOKEN}'), task })).toMatchObject({ status: 201 })
  })

  it('runs for all once it is published, and its readers of secrets stay as they are', async () => {
    expect((await as('publish', 'POST', '/api/templates', { name: 'reader', ...rule('${vault.TOKEN}') })).status).toBe(
      201,
    )
    const made = { template: 'reader', ...task }
    const { status, body } = await as('operate', 'POST', '/api/tasks', made)
    expect(status).toBe(201)
    const changed = { ...made, nodes: nodes('say', 'to me: ${vault.TOKEN}') }
    expect(await as('operate', 'POST', '/api/tasks', changed)).toMatchObject(lacks('say'))
    const added = { ...made, nodes: nodes('note', '${vault.TOKEN}') }
    expect(await as('operate', 'POST', '/api/tasks', added)).toMatchObject(lacks('note'))
    expect(await as('operate', 'POST', '/api/tasks', { ...made, nodes: nodes('note', 'seen') })).toMatchObject({
      status: 201,
    })
    const id = String(body['ID'])
    const batch = { operation: 'updateProperties', nodes: nodes('note', '${vault.TOKEN}') }
    const { body: answer } = await as('operate', 'PATCH', `/api/tasks?ids=${id}`, batch)
    expect(JSON.stringify(answer)).toContain('reads secrets of the vault in note')
  })

  it('is not made for resources by a type whose author may not publish', async () => {
    const templates = [{ templateName: 'reader', type: 'reactive', nodes: nodes('note', '${vault.TOKEN}') }]
    expect((await as('author', 'PATCH', '/api/resourcetypes/tanks', { templates })).status).toBeLessThan(300)
    await host.done('PUT', '/api/resources/tank-1', { resourceTypeId: 'tanks' })
    await expect
      .poll(async () => (await host.send('GET', '/api/resourcetypes/tanks')).body)
      .toContain('reads secrets of the vault in note')
  })
})
