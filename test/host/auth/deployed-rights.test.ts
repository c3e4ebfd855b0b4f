/** Code of tenants has at most the rights of the user who deployed it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../../src/client.ts'
import type { Scope } from '../../../src/kernel/rights.ts'
import { deployedWebscript, listeningHost, type ListeningHost } from '../listening-host.ts'
import { basic } from '../sample-host.ts'

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost()
})
afterAll(() => host.stop())

async function pairWith(scope: Scope): Promise<{ readonly key: string; readonly secret: string }> {
  const { key, secret } = host.credentials
  const answer = await fetch(`${host.url}/auth/v1/keys`, {
    method: 'POST',
    headers: { authorization: basic(key, secret), 'content-type': 'application/json' },
    body: JSON.stringify({ scopes: [scope] }),
  })
  return (await answer.json()) as { key: string; secret: string }
}

const filesOf = (name: string) => ({
  'webscript.json': JSON.stringify({ name, version: '1.0.0', runtime: 'web-node24' }),
  'package.json': '{"type":"module"}',
  'index.js': `export async function handleRequest(req, res) {
    const attempt = (work) => work.then(() => 'open', (error) => error.code)
    res.json({ read: await attempt(client.resources.resources.list({})), secrets: await attempt(client.vault.list()) })
  }`,
})

it.each<[Scope, object]>([
  ['author', { read: 'open', secrets: 'FORBIDDEN' }],
  ['admin', { read: 'open', secrets: 'open' }],
])('a webscript deployed by a key with %s calls the API with the rights of that key', async (scope, expected) => {
  const deployer = createClient({ url: host.url, credentials: await pairWith(scope) })
  const script = await deployedWebscript({ ...host, client: deployer }, filesOf(`by${scope}`))
  const answer = await fetch(script.url, { headers: { authorization: `hmac-sha256 ${script.secret}` } })
  expect(await answer.json()).toEqual(expected)
})

it('a webscript reads links of the host to which it belongs', async () => {
  const script = await deployedWebscript(host, {
    ...filesOf('linked'),
    'index.js': `export async function handleRequest(req, res) {
      const { uri } = await client.rules.templates.create({ name: 'linked', sensors: [{ label: 'any', name: 'stream' }] })
      res.json({ uri })
    }`,
  })
  const answer = await fetch(script.url, { headers: { authorization: `hmac-sha256 ${script.secret}` } })
  expect(await answer.json()).toEqual({ uri: `${host.url}/api/templates/linked` })
})

it('a private webscript opens to keys that operate, not to those that only read or publish as devices', async () => {
  const { url } = await deployedWebscript(host, filesOf('closed'))
  const statusFor = async (scope: Scope) => {
    const { key, secret } = await pairWith(scope)
    return (await fetch(url, { headers: { authorization: basic(key, secret) } })).status
  }
  expect([await statusFor('device'), await statusFor('read'), await statusFor('operate')]).toEqual([403, 403, 200])
})
