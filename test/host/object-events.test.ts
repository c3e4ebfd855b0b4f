/** Changes of objects in a whole host: files become series that rules are tried over, and webscripts raise what rules answer. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost, type RunningHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { root } from '../support/repository.ts'
import { Workspace } from '../cli/run-cli.ts'
import { basic } from './sample-host.ts'

const credentials = { key: 'k', secret: 'a-secret' }
let host: RunningHost
let client: Client
beforeAll(async () => {
  const given = { store: 'memory:', port: 0, ...credentials, empty: true, logLevel: 'silent' }
  host = await startHost(readConfig(given, {}, [...SERVICES.keys()]), { write: () => undefined }, { hashCost: 2 })
  client = createClient({ url: host.url, credentials })
})
afterAll(() => host.stop())

const example = (name: string): Readonly<Record<string, string>> => {
  const folder = join(root, 'fixtures/examples', name)
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

async function deployed(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const { webscripts } = client.functions
  const assets = new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const { job } = await webscripts.create(assets)
  await webscripts.jobs.finished(job?.id ?? '')
  return String((await webscripts.get(name, '1.0.0')).record['secret'])
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
  it('is in the series, and a rule over what is exported of them can be simulated', async () => {
    await client.objects.put('etl-import', 'upload/boilers.csv', HOT)
    const { transfers } = client.subscriptions
    await expect.poll(() => transfers.imports({ object: 'upload/boilers.csv' })).toMatchObject([{ state: 'completed' }])
    expect(await client.broker.series.raw('boiler-1', 'temperature', { from: 0 })).toMatchObject({
      series: [
        [Date.parse('2026-01-01T10:00:00Z'), 60],
        [Date.parse('2026-01-01T10:05:00Z'), 95],
      ],
    })
    expect((await client.resources.resources.get('boiler-1')).value).toMatchObject({ id: 'boiler-1' })
    const { id } = await transfers.startExport({ resource: 'boiler-1', object: 'boiler-1.csv' })
    await expect.poll(() => transfers.export(id)).toMatchObject({ state: 'completed' })
    using place = new Workspace({
      'boiler-1.csv': await (await client.objects.get('etl-export', 'boiler-1.csv')).text(),
    })
    const rule = join(root, 'fixtures/rules/overheating.json')
    const ran = await place.cli(['simulate', rule, '--messages', 'boiler-1.csv', '--resource', 'boiler-1', '--json'])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain('"temperature":95')
  })

  it('goes there from the command line, which shows what was refused and does nothing twice', async () => {
    using place = new Workspace({ 'more.csv': `${HOT}boiler-1,never,1\n` })
    const env = { REFLEXARC_URL: host.url, REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 'a-secret' }
    const first = await place.cli(['import', 'more.csv'], { env })
    expect(first).toMatchObject({
      code: 1,
      stdout: 'more.csv: 2 messages with 2 points are in series\n',
      stderr: expect.stringContaining('more.csv:4: "never" is not a time') as unknown,
    })
    const again = await place.cli(['import', 'more.csv', '--json'], { env })
    expect(JSON.parse(again.stdout)).toMatchObject({ points: 2, refused: 1 })
    expect(await client.subscriptions.transfers.imports({ object: 'upload/more.csv' })).toHaveLength(1)
    expect(await place.cli(['import', 'none.csv'], { env })).toMatchObject({ code: 1, stdout: '' })
  })
})

describe('a file that is dropped into a bucket', () => {
  it('calls a webscript that raises an alarm, which a rule answers', async () => {
    const secret = await deployed('inspectionHook', example('inspection-hook'))
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
    // what it led to may be there before its answer is
    await expect
      .poll(() => client.subscriptions.deliveries('assets', 'inspections'), { timeout: 10_000 })
      .toMatchObject([{ state: 'delivered', object: 'inspections/boiler-7.json', attempts: 1 }])
  })

  it('is heard by rules on a channel of its own, which read what it has', async () => {
    const { ID } = await client.rules.tasks.create({
      sensors: [
        { label: 'put', name: 'objectEvent', resource: 'assets', properties: { prefix: 'limits/', events: 'put' } },
        { label: 'read', name: 'getObject', properties: { path: '${nodes.put.rawData.object.path}' } },
      ],
      triggers: [{ sourceLabel: 'put', destinationLabel: 'read', statesTrigger: ['Put'] }],
      task: { name: 'limits', type: 'reactive', resource: 'plant' },
    })
    await client.objects.put('assets', 'other/a.json', '{"most":1}', 'application/json')
    await client.objects.put('assets', 'limits/a.json', '{"most":5}', 'application/json')
    await expect
      .poll(() => client.rules.inspection.node(ID, 'read'))
      .toMatchObject({ rawData: { data: { most: 5 }, object: { path: 'limits/a.json' } } })
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

  it('have links, a sealed secret, and a place in the overview', async () => {
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

  it.each<[string, string, unknown, number]>([
    ['POST', '/subscription/public', { ...body, channel: { ...body.channel, type: 'system' } }, 422],
    ['POST', '/subscription/etl-export', body, 404],
    ['GET', '/subscription/public/none', undefined, 404],
    ['DELETE', '/subscription/etl-import/import', undefined, 403],
    ['GET', '/subscription/public?event_type=copy', undefined, 422],
    ['DELETE', '/subscription/public?prefixx=a', undefined, 422],
    ['POST', '/export', {}, 422],
    ['GET', '/import/none', undefined, 404],
  ])('%s %s is refused with an error', async (method, path, sent, status) => {
    expect(await ask(method, path, sent)).toMatchObject({ status, body: { error: expect.any(String) as unknown } })
  })
})
