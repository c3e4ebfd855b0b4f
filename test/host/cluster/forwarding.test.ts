import { EventEmitter } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { Forwarding } from '../../../src/host/cluster/forwarding.ts'
import { machineTimers } from '../../../src/host/timers.ts'
import { hostAt } from './model-host.ts'

const options = { timers: machineTimers, requestMs: 30_000 }
const requestOf = (method: string, headers: Readonly<Record<string, string>> = {}): FastifyRequest =>
  ({ method, headers, raw: new EventEmitter(), routeOptions: { config: {} } }) as unknown as FastifyRequest

it('holds requests with a short body or none', () => {
  const forwarding = new Forwarding(options)
  const held = [requestOf('GET'), requestOf('DELETE'), requestOf('POST', { 'content-length': '65536' })]
  const streamed = [
    requestOf('GET', { 'content-length': '1' }),
    requestOf('POST', { 'content-length': '65537' }),
    requestOf('POST', { 'transfer-encoding': 'chunked' }),
    requestOf('GET', { connection: 'upgrade', upgrade: 'websocket' }),
  ]
  expect([...held, ...streamed].map((one) => forwarding.holds(one))).toEqual([
    ...held.map(() => true),
    ...streamed.map(() => false),
  ])
})

// Holds FORWARD-1
it('FORWARD-1: holds bodies only while there is room', () => {
  const forwarding = new Forwarding(options)
  const one = requestOf('POST', { 'content-length': '65536' })
  const replies: EventEmitter[] = []
  while (forwarding.holds(one)) {
    const raw = new EventEmitter()
    replies.push(raw)
    const again = requestOf('POST', one.headers as Record<string, string>)
    forwarding.read(again, { raw } as unknown as FastifyReply, () => undefined)
  }
  expect(replies.length).toBe(1_024)
  expect(forwarding.holds(requestOf('GET'))).toBe(true)
  replies[0]?.emit('close')
  expect(forwarding.holds(one)).toBe(true)
})

it.each([
  ['a large body', 'POST', { 'content-length': '140000' }, 140_000],
  ['a body of unknown length', 'POST', { 'transfer-encoding': 'chunked' }, 140_000],
  ['a body of a read, which is ignored', 'GET', { 'content-length': '5' }, 5],
  ['headers of one connection', 'POST', { connection: 'close, x-own', 'x-own': '1', 'content-length': '2' }, 2],
])('streams %s', async (_, method, headers, length) => {
  const second = await hostAt({ kind: 'here', term: 1 })
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  const sent = JSON.stringify('a'.repeat(length - 2))
  const answer = await new Promise<string>((resolve, reject) => {
    const asking = request(first.url, { method, headers: { 'content-type': 'application/json', ...headers } })
    asking.on('response', (response) => resolve(text(response))).on('error', reject)
    asking.end(sent)
  })
  expect(JSON.parse(answer)).toEqual(
    method === 'GET' ? { at: second.url } : { at: second.url, body: JSON.parse(sent) as unknown },
  )
})
