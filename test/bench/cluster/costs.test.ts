/** Tests that known costs of messages and transactions are recovered from loads built with them. */
import { describe, expect, it } from 'vitest'
import { costsOf, lineThrough } from '../../../bench/cluster/simulation.ts'
import type { SpreadLoad, SpreadSample } from '../../../bench/samples/spread.ts'

const COSTS = {
  host: { message: 100, transaction: 900 },
  handing: 60,
  handed: 20,
  server: { message: 40, transaction: 500 },
  sender: 10,
  upkeep: { host: 10_000, server: 5_000 },
}
const SECONDS = 3

/** A load of so many messages and transactions with these costs. */
function loadOf(
  way: SpreadLoad['way'],
  hosts: number,
  messages: number,
  transactions: number,
  handed = COSTS.handed,
): SpreadLoad {
  const { host, server, upkeep } = COSTS
  const work = host.message * messages + host.transaction * transactions + (way === 'handed' ? handed * messages : 0)
  const idle = upkeep.host * SECONDS
  const others = Array.from({ length: hosts - 1 }, () => idle + (way === 'handed' ? COSTS.handing * messages : 0))
  return {
    way,
    window: 4,
    messages,
    seconds: SECONDS,
    transactions,
    hosts: [...others, idle + work],
    server: server.message * messages + server.transaction * transactions + hosts * upkeep.server * SECONDS,
    sender: COSTS.sender * messages,
  }
}

function sampleOf(hosts: number, loads: readonly SpreadLoad[]): SpreadSample {
  const { upkeep } = COSTS
  return { hosts, loads, idle: { host: upkeep.host, server: upkeep.server * hosts }, flushMs: 1 }
}

/** Least squares come close to whole numbers. */
const rounded = (_key: string, value: unknown): unknown => (typeof value === 'number' ? Math.round(value) : value)

const samples = [
  sampleOf(1, [loadOf('owner', 1, 10_000, 200), loadOf('owner', 1, 3_000, 900)]),
  sampleOf(2, [loadOf('owner', 2, 8_000, 400), loadOf('handed', 2, 6_000, 300)]),
]

describe('costs of a cluster', () => {
  it('are computed without upkeep, separately for messages, transactions and forwarding', () => {
    const found = costsOf(samples)
    expect(JSON.parse(JSON.stringify(found, rounded))).toEqual(COSTS)
  })

  it('include the saving of an owner whose messages come from another host', () => {
    const cheaper = [samples[0], sampleOf(2, [loadOf('owner', 2, 8_000, 400), loadOf('handed', 2, 6_000, 300, -30)])]
    expect(Math.round(costsOf(cheaper.filter((one) => one !== undefined)).handed)).toBe(-30)
  })

  it('require samples with forwarded messages', () => {
    expect(() => costsOf(samples.slice(0, 1))).toThrow('lack forwarded messages')
  })

  it.each([
    ['falls, a transaction costs nothing', 0.1, 50, 1, 30, { message: 45, transaction: 0 }],
    ['begins below 0, a message costs nothing', 0.1, 10, 0.5, 90, { message: 0, transaction: 150 }],
  ])('where the line %s', (_, share, cost, otherShare, otherCost, wanted) => {
    const points = [
      { share, cost, messages: 300 },
      { share: otherShare, cost: otherCost, messages: 100 },
    ]
    expect(lineThrough(points)).toEqual(wanted)
  })

  it('require loads with different numbers of messages per transaction', () => {
    const point = { share: 0.1, cost: 50, messages: 10 }
    expect(() => lineThrough([point, point])).toThrow('one share')
  })
})
