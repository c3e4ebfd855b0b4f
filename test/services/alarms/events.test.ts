import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EVENT_LOG } from '../../../src/services/alarms/alarm-record.ts'
import type { AlarmEvent } from '../../../src/services/alarms/contract.ts'
import { jsonLines, serverEvents } from '../../../src/services/shared/http/client/streams.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { until } from '../../support/until.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

let alarms: Bench
let url: string
let gone: AbortController
beforeEach(async () => {
  alarms = await bench()
  gone = new AbortController()
  url = await listening(alarms)
})
afterEach(async () => {
  gone.abort()
  await alarms.close()
})

async function listening({ app }: Bench): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

function open(headers: Record<string, string> = {}, path = '/alarm/events'): Promise<Response> {
  return fetch(`${url}${path}`, { headers, signal: gone.signal })
}

async function take<T>(stream: AsyncIterator<T>, count: number): Promise<readonly T[]> {
  const taken: T[] = []
  while (taken.length < count) {
    const next = await stream.next()
    if (next.done === true) break
    taken.push(next.value)
  }
  return taken
}

/** Raises an alarm twice and clears it. */
async function threeEvents(source = 'boiler-1'): Promise<string> {
  const { id } = await alarms.api.raise(alarmOf({ source: { id: source }, assignee: 'user/1', more: 1 }))
  await alarms.api.raise(alarmOf({ source: { id: source } }))
  await alarms.api.update(id, { status: 'CLEARED' })
  return id
}

const eventsOf = (id: string, source = 'boiler-1') => {
  const iso = new Date(NOON).toISOString()
  const alarm = {
    id,
    tenantId: 'acme',
    creationTime: iso,
    type: 'HEAT',
    text: 'too hot',
    timestamp: iso,
    source: { id: source },
    severity: 'MAJOR',
    status: 'ACTIVE',
    count: 1,
    lifecycle: 'unacknowledged',
    suppression: 'none',
  }
  const cleared = {
    attribute: 'status',
    type: 'io.service.alarm.change.status',
    oldValue: 'ACTIVE',
    newValue: 'CLEARED',
  }
  return [
    { eventtype: 'io.service.alarm.AlarmRaised', eventtime: iso, alarm, user: 'tester' },
    { eventtype: 'io.service.alarm.EventOccuredAgain', eventtime: iso, alarm: { ...alarm, count: 2 } },
    {
      eventtype: 'io.service.alarm.AlarmUpdated',
      eventtime: iso,
      alarm: { ...alarm, count: 2, status: 'CLEARED', lifecycle: 'normal' },
      changes: [cleared],
      user: 'tester',
    },
  ]
}

describe('the stream of alarm events', () => {
  it('is one JSON event per line, from now on', async () => {
    await threeEvents('before')
    const answer = await open()
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = jsonLines(answer)
    const first = take(lines, 3)
    await streaming(1)
    const id = await threeEvents()
    expect(await first).toEqual(eventsOf(id))
  })

  it('is server-sent events for clients that accept them, and resumes after their last event', async () => {
    const events = serverEvents(await open({ accept: 'text/event-stream' }))
    const first = take(events, 3)
    await streaming(1)
    const one = await threeEvents()
    const seen = await first
    expect(seen.map(({ data }) => data)).toEqual(eventsOf(one))
    gone.abort()
    gone = new AbortController()
    const two = await threeEvents('boiler-2')
    const last = seen[1]?.id ?? ''
    const again = serverEvents(await open({ accept: 'text/event-stream', 'last-event-id': last }))
    const rest = await take(again, 4)
    expect(rest.map(({ data }) => data)).toEqual([...eventsOf(one).slice(2), ...eventsOf(two, 'boiler-2')])
    const ids = [...seen, ...rest].map(({ id }) => Number(id))
    expect(ids).toEqual([1, 2, 3, 3, 4, 5, 6])
  })

  it('resumes without a gap when events arrive while it catches up', async () => {
    for (let i = 0; i < 2500; i++) await alarms.api.raise(alarmOf(), { history: 'newest' })
    const stream = alarms.api.events({ signal: gone.signal, after: '0' })[Symbol.asyncIterator]()
    const early = await take(stream, 10)
    for (let i = 0; i < 500; i++) await alarms.api.raise(alarmOf(), { history: 'newest' })
    const ids = [...early, ...(await take(stream, 2990))].map(({ id }) => Number(id))
    expect(ids).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1))
  })

  it('begins now for the id of an event that does not exist yet', async () => {
    const stream = alarms.api.events({ signal: gone.signal, after: '99' })[Symbol.asyncIterator]()
    const next = stream.next()
    await streaming(1)
    await alarms.api.raise(alarmOf())
    expect(await next).toMatchObject({ value: { id: '1' } })
  })

  it('rejects a malformed id', async () => {
    const stream = alarms.api.events({ signal: gone.signal, after: 'x' })[Symbol.asyncIterator]()
    await expect(stream.next()).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('omits updates without a difference, and deletions', async () => {
    const stream = alarms.api.events({ signal: gone.signal })[Symbol.asyncIterator]()
    const next = stream.next()
    await streaming(1)
    const { id } = await alarms.api.raise(alarmOf())
    await alarms.api.update(id, { status: 'ACTIVE' })
    await alarms.api.remove(id)
    await alarms.api.raise(alarmOf({ text: 'second' }))
    await next
    const { value } = (await stream.next()) as { value: { text: string } }
    expect(JSON.parse(value.text)).toMatchObject({ alarm: { text: 'second' } })
  })

  it('ends when the host closes', async () => {
    const answer = await open()
    const whole = take(jsonLines(answer), 1)
    await streaming(1)
    await alarms.service.stop()
    expect(await whole).toEqual([])
  })

  it('includes writes of another process, in the order of the log', async () => {
    const storage = openMemory()
    const [here, there] = [await bench({ storage }), await bench({ storage, ids: 'b' })]
    const stream = here.api.events({ signal: gone.signal })[Symbol.asyncIterator]()
    const first = take(stream, 4)
    await until(() => here.service.gauges().eventStreams === 1)
    await there.api.raise(alarmOf())
    await there.api.raise(alarmOf())
    await here.api.raise(alarmOf())
    await there.api.raise(alarmOf())
    await here.api.raise(alarmOf())
    const counts = (await first).map(({ text }) => (JSON.parse(text) as AlarmEvent).alarm['count'])
    expect(counts).toEqual([1, 2, 3, 4])
    await here.close()
    await there.close()
  })

  it('keeps the newest ten thousand events for returning readers', async () => {
    const log = alarms.storage.tenant('acme').log(EVENT_LOG)
    const { id } = await alarms.api.raise(alarmOf())
    const [entry] = await log.read(0)
    const bodies = Array.from({ length: 10_000 }, () => entry?.body ?? null)
    await log.append(bodies)
    await log.append(bodies.slice(0, 99))
    await alarms.service.keepHouse()
    expect(await log.bounds()).toEqual({ first: 101, last: 10_100 })
    expect(id).toBe('a1')
  })
})

function streaming(count: number): Promise<void> {
  return until(() => alarms.service.gauges().eventStreams === count)
}
