/** Tests objects, secrets, webscripts and their interplay at a host that does not own the tenant. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient, type Client } from '../../../src/client.ts'
import { ApiKeys, KEY_RECORDS } from '../../../src/host/auth/api-keys.ts'
import { HOST_TENANT } from '../../../src/host/auth/host-tenant.ts'
import type { RunningHost } from '../../../src/host/running-host.ts'
import { basic } from '../sample-host.ts'
import { memoryHosts, type MemoryHosts } from './memory-hosts.ts'

const SCRIPT = `const heard = []
module.exports = async (req, res) => {
  if (req.method === 'POST') heard.push(req.body.object ?? req.body)
  res.json({ heard: heard.length, secret: process.env.WORD.length })
}`

let cluster: MemoryHosts
let owner: RunningHost
let other: RunningHost
let tenant: string
/** Client of the host that does not own the tenant */
let client: Client
let script: string

beforeAll(async () => {
  cluster = await memoryHosts(2, { functions: 'trusted' })
  const [first, second] = cluster.hosts
  owner = first ?? expect.fail('no host')
  other = second ?? expect.fail('no other host')
  tenant = await cluster.tenantAt(owner)
  client = createClient({ url: other.url, credentials: { key: tenant, secret: 's' } })
  const digest = createHash('sha256').update(JSON.stringify([tenant, 'teller']))
  script = `/api/v1/${digest.digest('hex').slice(0, 32)}`
})
afterAll(() => cluster.stop())

/** Deploys a webscript; resolves when it runs. */
async function deployed(files: Readonly<Record<string, string>>): Promise<void> {
  const assets = new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const { job } = await client.functions.webscripts.create(assets)
  await client.functions.webscripts.jobs.finished(job?.id ?? '')
}

/** Returns the status of a request from a given address of this machine. */
async function statusFrom(localAddress: string, url: string, authorization: string): Promise<number | undefined> {
  const asking = get(url, { localAddress, agent: false, headers: { authorization } })
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

it('a webscript with a secret of the vault is called by its id at any host', async () => {
  expect((await fetch(other.url + script)).status).toBe(404)
  await client.vault.put('WORD', 'sesame')
  const manifest = { name: 'teller', version: '1.0.0', runtime: 'web-node24', private: false }
  const files = {
    'webscript.json': JSON.stringify({ ...manifest, deploy: { secrets: ['WORD'] } }),
    'index.js': SCRIPT,
  }
  await deployed(files)
  for (const { url } of [owner, other]) {
    // a host caches an unknown id for a second
    await expect
      .poll(async () => (await fetch(url + script)).json(), { timeout: 10_000 })
      .toEqual({ heard: 0, secret: 6 })
  }
})

it('an object that is put at one host is read at the other, and subscriptions tell of it', async () => {
  await client.subscriptions.create('assets', {
    id: 'told',
    channel: {
      type: 'webscript',
      name: 'teller',
      method: 'POST',
      payload: { signed_links: ['GET'] },
      authentication: { method: 'NONE' },
    },
    filters: [{ prefix: 'told/' }],
  })
  await client.objects.put('assets', 'told/a.txt', 'hello')
  const signed = await client.objects.sign('assets', 'told/a.txt', 'GET')
  expect(signed.href.startsWith(other.url)).toBe(true)
  expect(await (await fetch(signed.href)).text()).toBe('hello')
  const atOwner = createClient({ url: owner.url, credentials: { key: tenant, secret: 's' } })
  expect(await (await atOwner.objects.get('assets', 'told/a.txt')).text()).toBe('hello')
  await expect
    .poll(() => client.subscriptions.deliveries('assets', 'told'), { timeout: 20_000 })
    .toMatchObject([{ state: 'delivered' }])
  expect(await (await fetch(other.url + script)).json()).toMatchObject({ heard: 1 })
})

it('guessing a key on one host does not delay its users on the host of the tenant', async () => {
  const own = { name: 'closed', version: '1.0.0', runtime: 'web-node24' }
  const code = 'module.exports = async (req, res) => res.json(1)'
  await deployed({ 'webscript.json': JSON.stringify(own), 'index.js': code })
  const keys = new ApiKeys(cluster.storage.tenant(HOST_TENANT).collection(KEY_RECORDS), Date.now, 2)
  await keys.add({ key: 'fresh', secret: 's', tenant })
  const call = (secret: string, from: string) =>
    statusFrom(from, `${other.url}/api/v1/${tenant}/closed`, basic('fresh', secret))
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, n) => call(`wrong ${n}`, '127.0.0.2')))
  expect(new Set(guesses)).toEqual(new Set([403, 429]))
  expect(await call('s', '127.0.0.3')).toBe(200)
})

it('the next owner opens signed addresses, secrets and webscripts, and continues with imports', async () => {
  const signed = await client.objects.sign('assets', 'told/a.txt', 'GET')
  await client.objects.put('etl-import', 'upload/a.csv', 'resource,timestamp,level\npump-1,2026-01-01T00:00:00Z,5\n')
  await owner.stop()
  expect(await (await fetch(signed.href)).text()).toBe('hello')
  expect((await fetch(signed.href.replace('Signature=', 'Signature=0'))).status).toBe(403)
  expect(await (await fetch(other.url + script)).json()).toEqual({ heard: 0, secret: 6 })
  const { transfers } = client.subscriptions
  await expect
    .poll(() => transfers.imports({ object: 'upload/a.csv' }), { timeout: 20_000 })
    .toMatchObject([{ state: 'completed' }])
  const { series } = await client.broker.series.raw('pump-1', 'level', { from: 0 })
  expect(series).toEqual([[Date.parse('2026-01-01T00:00:00Z'), 5]])
})

it('a bucket and a webscript without an owner are rejected as by a single host', async () => {
  const statuses = async (path: string) => (await fetch(other.url + path)).status
  expect(await statuses('/reflexarc-ws-public-nobody/a.txt')).toBe(403)
  expect(await statuses('/api/v1/nobody/nothing')).toBe(404)
  expect(await statuses(`/api/v1/${'0'.repeat(32)}`)).toBe(404)
})
