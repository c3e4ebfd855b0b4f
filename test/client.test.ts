/** Tests `reflexarc/client` with a listening host, and what it requires of the platform. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError, createClient, type Client } from '../src/client.ts'
import { readConfig } from '../src/host/config.ts'
import { startHost, type RunningHost } from '../src/host/running-host.ts'
import { SERVICES } from '../src/host/wiring/service-table.ts'
import { root } from './support/repository.ts'
import { mustRun } from './support/run-command.ts'

const credentials = { key: 'k', secret: 'a-secret' }

describe('a client of a host', () => {
  let host: RunningHost
  let client: Client
  beforeAll(async () => {
    const given = { store: 'memory:', port: 0, ...credentials, empty: true, logLevel: 'silent' }
    host = await startHost(readConfig(given, {}, [...SERVICES.keys()]), { write: () => undefined }, { hashCost: 2 })
    client = createClient({ url: host.url, credentials })
  })
  afterAll(() => host.stop())

  it('speaks to every service that the host has', () => {
    // assistants speak the Model Context Protocol, and Grafana that of Prometheus, with clients of their own
    const served = [...SERVICES.keys()].filter((name) => name !== 'assistants' && name !== 'prometheus')
    expect(Object.keys(client).toSorted()).toEqual(served.toSorted())
  })

  it('takes a message from the thing that sends it to the alarm of a rule', async () => {
    const { rules, resources, alarms, broker } = client
    await resources.resources.create({ id: 'boiler/1', name: 'The boiler' })
    const { ID } = await rules.tasks.create({
      sensors: [
        { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
      ],
      actuators: [
        { label: 'alarm', name: 'createAlarm', properties: { type: 'heat', text: 'hot', severity: 'MAJOR' } },
      ],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
      task: { name: 'heat', type: 'reactive', resource: 'boiler/1' },
    })
    await broker.posting.events('boiler/1', { t: 93 })
    const gone = new AbortController()
    for await (const { text } of alarms.events({ signal: gone.signal, after: '0' })) {
      expect(JSON.parse(text)).toMatchObject({ alarm: { type: 'heat', source: { id: 'boiler/1' } } })
      gone.abort()
    }
    expect(await alarms.list({ source: 'boiler/1' })).toMatchObject({ total: 1 })
    expect((await resources.resources.get('boiler/1')).value).toMatchObject({ name: 'The boiler' })
    expect(await broker.messages.current('boiler/1')).toMatchObject({ t: 93 })
    expect(await rules.tasks.stop(ID)).toMatchObject({ status: 'stopped' })
  })

  it('throws what a service refuses, with its code and every problem', async () => {
    await expect(client.resources.resources.get('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const refused: unknown = await client.broker.posting
      .events('boiler/1', { t: 1 }, { ttl: 'x' })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(AppError)
    expect(refused).toMatchObject({ code: 'VALIDATION', issues: [{ path: '/ttl' }] })
  })

  it('is refused with a wrong secret, and without credentials', async () => {
    for (const client of [
      createClient({ url: host.url }),
      createClient({ url: host.url, credentials: { key: 'k', secret: 'x' } }),
    ]) {
      await expect(client.rules.tasks.count({})).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    }
  })
})

describe('the requests of a client', () => {
  const asked = async (options: Omit<Parameters<typeof createClient>[0], 'fetch'>) => {
    const seen: [string, RequestInit['headers']][] = []
    const { alarms } = createClient({
      ...options,
      fetch: async (url, init) => {
        seen.push([url instanceof Request ? url.url : String(url), init?.headers])
        return Response.json({})
      },
    })
    await alarms.get('a/1')
    return seen
  }

  it.each(['http://a.test', 'http://a.test/', 'http://a.test/rules/', 'https://a.test:8443/rules'])(
    'to %s go below it',
    async (url) => {
      expect(await asked({ url })).toEqual([[`${url.replace(/\/$/, '')}/alarm/alarms/a%2F1`, {}]])
    },
  )

  it('show a token, or a key with its secret in UTF-8', async () => {
    expect(await asked({ url: 'http://a.test', credentials: { token: 'abc' } })).toMatchObject([
      ['http://a.test/alarm/alarms/a%2F1', { authorization: 'Bearer abc' }],
    ])
    const expected = `Basic ${Buffer.from('k:Geheimnis: ü').toString('base64')}`
    expect(await asked({ url: 'http://a.test', credentials: { key: 'k', secret: 'Geheimnis: ü' } })).toMatchObject([
      [expect.any(String), { authorization: expected }],
    ])
  })
})

describe('a client is not made', () => {
  it.each([
    '',
    'boiler',
    '127.0.0.1:8080',
    'ftp://a.test',
    'http://a.test?x=1',
    'http://a.test#x',
    'http://k:s@a.test',
  ])('for the address "%s"', (url) => {
    expect(() => createClient({ url })).toThrow(
      expect.objectContaining({
        code: 'VALIDATION',
        message: expect.stringContaining('is not the URL of a host') as string,
      }),
    )
  })

  it('with a key that no host can read', () => {
    expect(() => createClient({ url: 'http://a.test', credentials: { key: 'a:b', secret: 's' } })).toThrow(/colon/)
  })
})

it('the client loads no package, nothing of Node, and neither engine nor host', () => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); loaded.push(found.url); return found } })
    await import(process.argv[1])
    console.log(loaded.join('\\n'))`
  const entry = pathToFileURL(join(root, 'src/client.ts')).href
  const loaded = mustRun(process.execPath, ['--input-type=module', '-e', script, entry], root).trim().split('\n')
  const home = pathToFileURL(join(root, 'src')).href
  expect(loaded).toContain(`${home}/services/rules/client.ts`)
  const allowed =
    /^\/(?:client\.ts|kernel\/[\w-]+\.ts|services\/shared\/http\/[\w/-]+\.ts|services\/\w+\/(?:client|series|function-type)[\w/-]*\.ts)$/
  expect(loaded.filter((url) => !url.startsWith(home) || !allowed.test(url.slice(home.length)))).toEqual([])
})
