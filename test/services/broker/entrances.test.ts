/** Tests how each entrance treats invalid values and timestamps. */
import { afterEach, describe, expect, it } from 'vitest'
import type { TimeBounds } from '../../../src/services/broker/contract.ts'
import { brokerBench, NOON, type BrokerBench } from './support/bench-of-broker.ts'

const LONG = '12345678901234567890'
const HOUR = 3_600_000
const DAY = 24 * HOUR
const BOUNDS: TimeBounds = { ahead: HOUR, behind: 30 * DAY, refuses: false }

let bench: BrokerBench
afterEach(() => bench[Symbol.asyncDispose]())

async function post(path: string, text: string) {
  const { statusCode, body } = await bench.app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json' },
    payload: text,
  })
  return { status: statusCode, text: body }
}
const got = async (path: string): Promise<string> => (await bench.app.inject({ method: 'GET', url: path })).body

describe('a whole number that no number keeps', () => {
  it('stays in its message as it was written, and no series and no rule has it', async () => {
    const told: unknown[] = []
    bench = await brokerBench({ logOddity: (what, about, details) => told.push([what, about, details]) })
    const message = `{"serial":${LONG},"flow":9007199254740992,"of":{"list":[1,-${LONG}]}}`
    const answer = await post('/resources/m/events', message)
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining(`"serial":${LONG},`) as unknown })
    for (const path of ['/resources/m/current', '/resources/m/messages']) {
      expect(await got(path)).toContain(`"serial":${LONG},"flow":9007199254740992,"of":{"list":[1,-${LONG}]}`)
    }
    expect((await bench.api.series.list('m')).map(({ metric }) => metric)).toEqual(['flow'])
    expect(bench.engine.messages).toEqual([
      { resource: 'm', serial: null, flow: 9007199254740992, of: { list: [1, null] }, timestamp: NOON },
    ])
    expect(bench.service.gauges().unreadable).toBe(2)
    expect(told.map((one) => (one as readonly unknown[]).slice(0, 2))).toEqual([
      ['a whole number is unreadable', 'acme m serial'],
      ['a whole number is unreadable', 'acme m of'],
    ])
  })

  it('is the same in lists, in bulks, to subscribers and after a restart', async () => {
    bench = await brokerBench()
    const reader = bench.api.streams.subscribe('a', 'events', { signal: new AbortController().signal })
    await post('/messages', `[{"resource":"a","n":${LONG},"t":1},{"resource":"b","n":2}]`)
    await post('/resources/c/events', `[{"n":${LONG},"t":1,"timestamp":0},{"n":2,"timestamp":1}]`)
    for await (const { value } of reader) {
      expect(JSON.stringify(value)).toContain(`"n":${LONG}`)
      break
    }
    expect(await bench.api.series.get('c', 'n', { from: 0, until: 9 })).toMatchObject({ series: [[1, 2]] })
    expect(bench.engine.messages).toMatchObject([{ n: null, t: 1 }, { n: 2 }])
    expect(bench.service.gauges().unreadable).toBe(2)
    const restarted = await brokerBench({ storage: bench.storage })
    expect(JSON.stringify(await restarted.api.messages.current('a'))).toContain(`"n":${LONG}`)
    await restarted[Symbol.asyncDispose]()
  })

  it('is rejected in a command, which does something', async () => {
    bench = await brokerBench()
    const { status, text } = await post('/resources/m/commands', `{"name":"open","valve":${LONG}}`)
    expect([status, text]).toEqual([400, expect.stringContaining(`/valve <- ${LONG} has more digits`)])
    await expect(bench.api.posting.command('m', JSON.parse('{"name":"open"}'))).resolves.toMatchObject({
      message: 'Published command for m',
    })
  })
})

describe('a timestamp that the clock of the host cannot explain', () => {
  it.each([
    ['seconds', 1_763_978_400],
    ['microseconds', NOON * 1_000],
    ['too far ahead', NOON + HOUR + 1],
    ['too far behind', NOON - 30 * DAY - 1],
    ['a text', '2055-01-01T00:00:00Z'],
  ])('such as %s is taken at receipt, kept in the message and counted', async (_name, timestamp) => {
    const told: string[] = []
    bench = await brokerBench({ bounds: BOUNDS, logOddity: (what, about) => told.push(`${what}: ${about}`) })
    await bench.api.posting.events('r', { t: 1, timestamp })
    expect(await bench.api.messages.current('r')).toEqual({ t: 1, timestamp: NOON, claimedTimestamp: timestamp })
    expect(await bench.api.series.list('r')).toEqual([{ metric: 't', time: NOON, value: 1 }])
    expect(bench.service.gauges().badTime).toBe(1)
    expect(told).toEqual(['a timestamp was replaced: acme r'])
  })

  it.each([NOON + HOUR, NOON - 30 * DAY, NOON])('is none that is within the bounds: %d', async (timestamp) => {
    bench = await brokerBench({ bounds: BOUNDS })
    await bench.api.posting.events('r', { t: 1, timestamp })
    expect(await bench.api.messages.current('r')).toEqual({ t: 1, timestamp })
    expect(bench.service.gauges().badTime).toBe(0)
  })

  it('is rejected where the host wants it, with the right one where it fits another unit', async () => {
    bench = await brokerBench({ bounds: { ...BOUNDS, refuses: true } })
    const seconds = Math.floor(NOON / 1_000)
    const { status, body } = await bench.ask('POST', '/messages', [
      { resource: 'r', timestamp: seconds },
      { resource: 's', timestamp: NOON + 2 * HOUR },
    ])
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(
      `/0/timestamp <- 1970-01-21T18:39:36.000Z is behind the clock of this host by more than 30 d (${seconds} is in seconds; send milliseconds: ${NOON})`,
    )
    expect(JSON.stringify(body)).toContain(
      '/1/timestamp <- 2026-11-20T14:00:00.000Z is ahead of the clock of this host by more than 1 h (send the time',
    )
    await bench.api.posting.events('r', { t: 1, timestamp: seconds }, { badTime: 'receipt' })
    await bench.api.posting.events('r', { t: 1, timestamp: seconds }, { hops: 1 })
    expect(bench.service.gauges().badTime).toBe(2)
  })
})

describe('a timestamp that is a little ahead', () => {
  it('keeps its place in series, and hides nothing that comes after it', async () => {
    const seen: number[] = []
    bench = await brokerBench({
      bounds: BOUNDS,
      resources: () => ({ discover: (all) => void seen.push(...all.map(({ time }) => time)) }),
    })
    const ahead = NOON + HOUR / 2
    await bench.api.posting.events('r', { t: 1, timestamp: ahead })
    const newest = async () => [
      await bench.api.messages.current('r'),
      (await bench.api.series.latest('r', 't')).series,
      await bench.api.series.list('r'),
    ]
    expect(await newest()).toEqual([{ t: 1, timestamp: ahead }, [[ahead, 1]], [{ metric: 't', time: ahead, value: 1 }]])
    bench.clock.now = NOON + 5
    await bench.api.posting.events('r', { t: 2, timestamp: NOON + 4 })
    const right = { metric: 't', time: NOON + 4, value: 2 }
    expect(await newest()).toEqual([{ t: 2, timestamp: NOON + 4 }, [[NOON + 4, 2]], [right]])
    expect(seen).toEqual([NOON, NOON + 4])
    const query = { from: NOON, until: ahead }
    expect((await bench.api.series.get('r', 't', query)).series).toEqual([
      [NOON + 4, 2],
      [ahead, 1],
    ])
    const restarted = await brokerBench({ storage: bench.storage })
    expect(await restarted.api.messages.current('r')).toEqual({ t: 2, timestamp: NOON + 4 })
    await restarted[Symbol.asyncDispose]()
  })
})
