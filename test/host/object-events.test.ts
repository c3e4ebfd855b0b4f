/**
 * Tests changes of objects in a whole host: files into series that rules are run over, and webscripts forward what
 * rules answer.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client } from '../../src/client.ts'
import { root } from '../support/repository.ts'
import { Workspace } from '../cli/run-cli.ts'
import { basic } from './sample-host.ts'
import { deployedWebscript, listeningHost, type ListeningHost } from './listening-host.ts'

let host: ListeningHost
let client: Client
beforeAll(async () => {
  host = await listeningHost()
  client = host.client
})
afterAll(() => host.stop())

const example = (name: string): Readonly<Record<string, string>> => {
  const folder = join(root, 'fixtures/examples', name)
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

async function ask(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${host.url}/storage/v1${path}`, {
    method,
    headers: {
      authorization: basic('k', 'a-secret'),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const HOT = 'resource,timestamp,temperature\nboiler-1,2026-01-01T10:00:00Z,60\nboiler-1,2026-01-01T10:05:00Z,95\n'

describe('a CSV under etl-import/upload/', () => {
  it('is uploaded on the command line, which shows rejected lines and repeats nothing', async () => {
    using place = new Workspace({ 'more.csv': `${HOT}boiler-1,never,1\n` })
    const env = { REFLEXARC_URL: host.url, REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 'a-secret' }
    const first = await place.cli(['import', 'more.csv'], { env })
    expect(first).toMatchObject({
      code: 1,
      stdout: 'more.csv: 2 messages with 2 points were imported\n',
      stderr: expect.stringContaining('more.csv:4: "never" is not a valid time') as unknown,
    })
    const again = await place.cli(['import', 'more.csv', '--json'], { env })
    expect(JSON.parse(again.stdout)).toMatchObject({ points: 2, refused: 1 })
    expect(await client.subscriptions.transfers.imports({ object: 'upload/more.csv' })).toHaveLength(1)
    expect(await place.cli(['import', 'none.csv'], { env })).toMatchObject({ code: 1, stdout: '' })
  })
})

describe('a file that is dropped into a bucket', () => {
  it('calls a webscript that raises an alarm, which a rule answers', async () => {
    const { secret } = await deployedWebscript(host, example('inspection-hook'))
    await client.subscriptions.create(
      'assets',
      JSON.parse(
        readFileSync(join(root, 'fixtures/examples/inspection-hook.subscription.json'), 'utf8').replace(
          'SECRET',
          secret,
        ),
      ) as object,
    )
    await client.rules.tasks.create({
      sensors: [{ label: 'raised', name: 'AlarmEventSensor', resource: '$', properties: { type: 'INSPECTION' } }],
      actuators: [
        {
          label: 'note',
          name: 'putObject',
          properties: { path: 'notes/boiler-7.json', content: { alarm: '${nodes.raised.rawData.alarm.text}' } },
        },
      ],
      triggers: [{ sourceLabel: 'raised', destinationLabel: 'note', statesTrigger: ['Created'] }],
      task: { name: 'inspected', type: 'reactive', resource: 'boiler-7' },
    })
    await client.objects.put('assets', 'inspections/boiler-7.json', '{"leak":true}', 'application/json')
    await expect.poll(() => client.alarms.list({ source: 'boiler-7' }), { timeout: 10_000 }).toMatchObject({ total: 1 })
    const noted = async (): Promise<unknown> => (await client.objects.get('assets', 'notes/boiler-7.json')).json()
    await expect
      .poll(() => noted().catch(() => undefined), { timeout: 10_000 })
      .toEqual({ alarm: 'inspections/boiler-7.json was filed' })
    // the effect may be visible before the delivery is recorded
    await expect
      .poll(() => client.subscriptions.deliveries('assets', 'inspections'), { timeout: 10_000 })
      .toMatchObject([{ state: 'delivered', object: 'inspections/boiler-7.json', attempts: 1 }])
  })
})

describe('subscriptions over HTTP', () => {
  const body = {
    channel: {
      type: 'webscript',
      name: 'x',
      method: 'POST',
      payload: { signed_links: [] },
      authentication: { method: 'TOKEN', secret: 'open sesame' },
    },
    filters: [{ prefix: 'never/' }],
  }

  it('have links, an encrypted secret, and an entry in the overview', async () => {
    const made = await ask('POST', '/subscription/public', { id: 'one', ...body })
    const self = `${host.url}/storage/v1/subscription/public/one`
    expect(made).toMatchObject({
      status: 200,
      body: {
        id: 'one',
        _links: { self: { href: self }, update: { method: 'PUT' }, remove: { href: self, method: 'DELETE' } },
        channel: { authentication: { secret: expect.stringMatching(/^enc:/) as unknown } },
        filters: [{ events: ['put'], queue: expect.any(String) as unknown }],
      },
    })
    expect(await ask('PUT', '/subscription/public/one', made.body)).toEqual(made)
    const { body: overview } = await ask('GET', '/subscription?prefix=never/x')
    expect(overview['bucket_subscriptions']).toMatchObject([
      { bucket: { alias: 'assets' }, subscriptions: [] },
      { bucket: { alias: 'etl-import' }, subscriptions: [] },
      { bucket: { alias: 'public' }, subscriptions: [{ id: 'one' }] },
    ])
    const page = await ask('GET', '/subscription/public?max_keys=1')
    expect(page.body).toMatchObject({ bucket: { alias: 'public' }, subscriptions: [{ id: 'one' }] })
    expect(await ask('GET', '/subscription/public/one/deliveries?state=failed')).toMatchObject({
      status: 200,
      body: { deliveries: [] },
    })
    expect(await ask('DELETE', '/subscription/public/one')).toMatchObject({
      status: 200,
      body: { _links: { removed: { href: self } } },
    })
    expect(await ask('DELETE', '/subscription/public')).toMatchObject({ body: { _links: { removed: [] } } })
  })
})
