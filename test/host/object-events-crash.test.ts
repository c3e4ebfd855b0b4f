/** Kills a host while it reports a change to a webscript, imports a file, and stores an object. */
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { crashingHosts } from './host-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-object-events-'))
const hosts = crashingHosts(folder)

/** Records that it was called, and does not respond to the first call. */
const SCRIPT = `export default async (req, res) => {
  const before = await client.broker.messages.last('calls')
  await client.broker.posting.events('calls', { object: req.body.object.name, key: req.get('idempotency-key') })
  if (before.length === 0) await new Promise(() => undefined)
  res.sendStatus(200)
}`
const FILES = {
  'webscript.json': JSON.stringify({ name: 'told', version: '1.0.0', runtime: 'web-node24', private: false }),
  'package.json': '{"type":"module"}',
  'index.js': SCRIPT,
}
const ROWS = 60_000

async function subscribe({ functions, subscriptions }: Client): Promise<void> {
  const assets = new Map(Object.entries(FILES).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const { job } = await functions.webscripts.create(assets)
  await functions.webscripts.jobs.finished(job?.id ?? '')
  await subscriptions.create('assets', {
    id: 'told',
    channel: {
      type: 'webscript',
      name: 'told',
      method: 'POST',
      payload: { signed_links: [] },
      authentication: { method: 'NONE' },
    },
    filters: [{}],
  })
}

const TEMPORARY = join(folder, 'blobs', 'temporary')
const HALF = Buffer.alloc(100_000, 'x')

/** Begins uploads whose second half never arrives; resolves when part of each is on the disk. */
async function beginUploads({ objects }: Client, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { href } = await objects.sign('assets', path, 'PUT')
    const upload = request(href, { method: 'PUT', headers: { 'content-length': HALF.length * 2 } })
    // the connection breaks when the host is killed
    upload.on('error', () => undefined)
    upload.write(HALF)
  }
  const written = () => readdirSync(TEMPORARY).filter((name) => statSync(join(TEMPORARY, name)).size > 0)
  await expect.poll(written, { timeout: 30_000 }).toHaveLength(paths.length)
}

// Holds SUBSCRIBE-1, IMPORT-1, IMPORT-2
it('a change in flight at a kill is delivered again; files are imported as a whole, and objects are not partial', async () => {
  const dying = await hosts.start()
  const { client } = dying
  await subscribe(client)
  const rows = Array.from({ length: ROWS }, (_, n) => `boiler-${n % 7},${1_767_225_600_000 + n},${n}\n`)
  await client.objects.put('etl-import', 'upload/a.csv', `resource,timestamp,level\n${rows.join('')}never,never,1\n`)
  await client.objects.put('assets', 'x', 'content')
  const calls = (on: Client) => on.broker.messages.last('calls')
  await expect.poll(() => calls(client), { timeout: 30_000 }).toHaveLength(1)
  await beginUploads(client, ['x', 'y'])
  await dying.kill()
  const next = await hosts.start()
  const { subscriptions } = next.client
  await expect
    .poll(() => subscriptions.deliveries('assets', 'told'), { timeout: 30_000 })
    .toMatchObject([{ state: 'delivered', object: 'x' }])
  const told = await calls(next.client)
  expect(told).toHaveLength(2)
  expect(new Set(told.map(({ key }) => key)).size).toBe(1)
  await expect
    .poll(() => subscriptions.transfers.imports(), { timeout: 30_000 })
    .toMatchObject([{ state: 'completed', points: ROWS, refused: 1 }])
  const range = { from: 0, limit: 10_000 }
  const { series } = await next.client.broker.series.raw('boiler-0', 'level', range)
  expect(series).toHaveLength(Math.ceil(ROWS / 7))
  expect(await next.client.objects.get('assets', 'x').then((answer) => answer.text())).toBe('content')
  await expect(next.client.objects.get('assets', 'y')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(readdirSync(TEMPORARY)).toEqual([])
  await next.kill()
}, 120_000)
