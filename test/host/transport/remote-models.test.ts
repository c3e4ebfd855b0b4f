/**
 * Tests that model servers are called under the rules of callURL, and that errors tell whether the server received the
 * request.
 */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { nodeTransport } from '../../../src/host/transport/node-transport.ts'
import { remoteModels } from '../../../src/host/transport/remote-models.ts'
import { NOT_SENT, type RemoteRequest } from '../../../src/services/models/remote/remote-server.ts'
import { TestServer } from '../../services/models/remote/test-server.ts'

const server = await TestServer.start()
afterAll(() => server.stop())
beforeEach(() => void (server.seen.length = 0))

const request = (url: string, given: Partial<RemoteRequest> = {}): RemoteRequest => ({
  url,
  method: 'GET',
  headers: {},
  body: undefined,
  timeoutMs: 10_000,
  maxBytes: 1_000,
  signal: new AbortController().signal,
  ...given,
})
const allowing = remoteModels(nodeTransport({ allow: ['127.0.0.1'] }))

it('calls a server, and returns its response', async () => {
  const { status, body } = await allowing(request(`${server.url}/v1/models/sum`))
  expect([status, JSON.parse(body)]).toMatchObject([200, { ready: true }])
})

it.each<[string, string, RegExp]>([
  ['is not on the public internet', server.url, /127\.0\.0\.1 is not on the public internet/],
  ['has a name that leads to one', `http://heat.example:${server.port}`, /not on the public internet/],
  ['is the metadata of a cloud', 'http://169.254.169.254', /cloud metadata address/],
])('never connects to what %s', async (_title, url, message) => {
  const strict = remoteModels(nodeTransport({ resolve: () => Promise.resolve(['127.0.0.1']) }))
  await expect(strict(request(url))).rejects.toMatchObject({
    code: 'REMOTE_FAILED',
    message: expect.stringMatching(message) as string,
  })
  expect(server.seen).toEqual([])
})

it('does not follow redirects', async () => {
  server.instead = () => ({ status: 307, headers: { location: 'http://169.254.169.254/' } })
  expect(await allowing(request(server.url))).toMatchObject({ status: 307 })
  server.instead = () => undefined
})

it('reports that nothing was sent when no server listens', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  await expect(allowing(request(`http://127.0.0.1:${port}`))).rejects.toMatchObject({
    code: 'REMOTE_FAILED',
    cause: NOT_SENT,
    message: expect.stringMatching(/ECONNREFUSED/) as string,
  })
})

it.each<[string, () => 'drop' | Promise<never>, Partial<RemoteRequest>, string]>([
  ['ends the connection', () => 'drop', {}, 'REMOTE_FAILED'],
  ['says nothing', () => new Promise(() => undefined), { timeoutMs: 50 }, 'REMOTE_LATE'],
])('reports a server that %s', async (_title, instead, given, code) => {
  server.instead = instead
  const asked = allowing(request(server.url, given))
  await expect(asked).rejects.toMatchObject({ code })
  await expect(asked).rejects.not.toMatchObject({ cause: NOT_SENT })
  server.instead = () => undefined
})

it('applies its deadline to name resolution too', async () => {
  const silent = remoteModels(nodeTransport({ resolve: () => new Promise(() => undefined) }))
  await expect(silent(request('http://heat.example', { timeoutMs: 1 }))).rejects.toMatchObject({ code: 'REMOTE_LATE' })
})
