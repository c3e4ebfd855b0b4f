/** Tests the stream of events about resources and types. */
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { jsonLines, serverEvents } from '../../../src/services/shared/http/client/streams.ts'
import { bench, NOON } from './support/bench-of-resources.ts'

async function streaming(headers: Record<string, string>, query = '') {
  const resources = await bench()
  await resources.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = resources.app.server.address() as AddressInfo
  const controller = new AbortController()
  const open = (more: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}/api/events${query}`, {
      headers: { ...headers, ...more },
      signal: controller.signal,
    })
  return {
    resources,
    open,
    close: async () => {
      controller.abort()
      await resources.close()
    },
  }
}

async function first<T>(events: AsyncIterable<T>, count: number): Promise<readonly T[]> {
  const found: T[] = []
  for await (const event of events) {
    found.push(event)
    if (found.length === count) break
  }
  return found
}

describe('the stream of metadata events', () => {
  it('contains a line for each creation, update and deletion, with the previous state', async () => {
    const { resources, open, close } = await streaming({})
    const answer = await open()
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson')
    await resources.api.types.create({ id: 't' })
    await resources.api.resources.create({ id: 'r', a: 1, b: { c: 2 } })
    await resources.api.resources.patch('r', { a: 2, d: 3, b: { c: 2 } })
    await resources.api.resources.remove('r')
    expect(await first(jsonLines(answer), 4)).toEqual([
      { type: 'create', objectType: 'resourcetype', timestamp: NOON, resourcetype: { id: 't', $constraints: [] } },
      { type: 'create', objectType: 'resource', timestamp: NOON, resource: { id: 'r', a: 1, b: { c: 2 } } },
      {
        type: 'update',
        objectType: 'resource',
        timestamp: NOON,
        resource: { id: 'r', a: 2, b: { c: 2 }, d: 3 },
        oldValues: { a: 1, d: null },
      },
      { type: 'delete', objectType: 'resource', timestamp: NOON, resource: { id: 'r', a: 2, b: { c: 2 }, d: 3 } },
    ])
    await close()
  })

  it('resumes after the last id of a reader of server-sent events, and filters by kind', async () => {
    const { resources, open, close } = await streaming({ accept: 'text/event-stream' }, '?objectType=resource')
    await resources.api.resources.create({ id: 'a' })
    const answer = await open()
    await resources.api.types.create({ id: 't' })
    await resources.api.resources.create({ id: 'b' })
    // each event is sent with and without a name, for both kinds of listeners
    const [named, unnamed] = await first(serverEvents(answer), 2)
    expect(named).toEqual({ event: 'create', data: expect.objectContaining({ resource: { id: 'b' } }) as unknown })
    expect(unnamed).toEqual({ id: expect.stringMatching(/^\d+$/) as unknown, data: named?.data })
    const { id = '' } = unnamed ?? {}
    await resources.api.resources.create({ id: 'c' })
    const [, next] = await first(serverEvents(await open({ 'last-event-id': id })), 2)
    expect(next).toMatchObject({ id: String(Number(id) + 1) })
    await close()
  })

  it('reports a gap to a reader whose id is from another process', async () => {
    const { resources, open, close } = await streaming({ accept: 'text/event-stream' })
    // the first id is from a process that began a second earlier and had sent one event
    const answers = [
      await open({ 'last-event-id': String((NOON - 1_000) * 1_000 + 1) }),
      await open({ 'last-event-id': 'x' }),
    ]
    await resources.api.resources.create({ id: 'a' })
    for (const answer of answers) expect(await first(serverEvents(answer), 1)).toMatchObject([{ event: 'gap' }])
    await close()
  })

  it('is rejected for an unknown kind', async () => {
    await using resources = await bench()
    const answer = await resources.ask('GET', '/api/events?objectType=alarm')
    expect([answer.status, answer.at('error')]).toEqual([
      400,
      '/objectType <- "alarm" is unknown (write one of resource, resourcetype)',
    ])
  })
})
