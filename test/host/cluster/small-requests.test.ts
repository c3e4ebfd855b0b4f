import { EventEmitter } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Agent } from 'undici'
import { expect, it } from 'vitest'
import { Hops } from '../../../src/host/cluster/hop.ts'
import { SmallRequests } from '../../../src/host/cluster/small-requests.ts'

const options = {
  agent: new Agent(),
  frames: { to: () => undefined },
  hops: new Hops(Buffer.from('secret of all hosts'), () => 1_000),
}
const requestOf = (method: string, headers: Readonly<Record<string, string>> = {}): FastifyRequest =>
  ({ method, headers, raw: new EventEmitter(), routeOptions: { config: {} } }) as unknown as FastifyRequest

it('takes what has a short body or none, and nothing that it would have to hand on otherwise than whole', () => {
  const small = new SmallRequests(options)
  const taken = [
    requestOf('GET'),
    requestOf('DELETE', { connection: 'Keep-Alive' }),
    requestOf('POST', { 'content-length': '65536' }),
  ]
  const left = [
    requestOf('GET', { 'content-length': '1' }),
    requestOf('POST', { 'content-length': '65537' }),
    requestOf('POST', { 'transfer-encoding': 'chunked' }),
    requestOf('GET', { connection: 'upgrade', upgrade: 'websocket' }),
    requestOf('GET', { connection: 'close, x-of-the-connection' }),
  ]
  expect([...taken, ...left].map((one) => small.takes(one))).toEqual([
    ...taken.map(() => true),
    ...left.map(() => false),
  ])
})

// Holds SMALL-1
it('SMALL-1: holds only bodies for which it has room', () => {
  const small = new SmallRequests(options)
  const one = requestOf('POST', { 'content-length': '65536' })
  const replies: EventEmitter[] = []
  while (small.takes(one)) {
    const raw = new EventEmitter()
    replies.push(raw)
    small.read(requestOf('POST', one.headers as Record<string, string>), { raw } as unknown as FastifyReply, () => {})
  }
  expect(replies.length).toBe(1_024)
  expect(small.takes(requestOf('GET'))).toBe(true)
  replies[0]?.emit('close')
  expect(small.takes(one)).toBe(true)
})
