/** Tests the throughput of simulated clusters where it can be computed without a simulation. */
import { describe, expect, it } from 'vitest'
import { type ClusterCosts, simulateCluster, type SimulatedCluster } from '../../../bench/cluster/simulation.ts'

const NOTHING: ClusterCosts = {
  host: { message: 0, transaction: 0 },
  handing: 0,
  handed: 0,
  server: { message: 0, transaction: 0 },
  sender: 0,
  upkeep: { host: 0, server: 0 },
}

function simulate(costs: Partial<ClusterCosts>, more: Partial<SimulatedCluster> = {}) {
  return simulateCluster({
    hosts: 1,
    knowsOwner: true,
    window: 16,
    costs: { ...NOTHING, ...costs },
    machines: { kind: 'apart', cores: 4 },
    networkMs: 0,
    flushMs: 0.01,
    seed: 1,
    ...more,
  })
}

/** within five percent, since service times are random */
const near = (wanted: number, found: number): boolean => Math.abs(found / wanted - 1) < 0.05

describe('a simulated cluster', () => {
  it('is limited by the time of its host, if only the host has costs', () => {
    const { perSecond, busy } = simulate({ host: { message: 500, transaction: 0 } })
    expect([near(2_000, perSecond), near(1, busy.hosts)], `${perSecond}`).toEqual([true, true])
  })

  it('scales with the number of hosts, if only hosts have costs', () => {
    const host = { message: 500, transaction: 0 }
    const { perSecond } = simulate({ host }, { hosts: 4 })
    expect(near(8_000, perSecond), `${perSecond}`).toBe(true)
  })

  it('is limited by the cores of the database, for any number of hosts', () => {
    const server = { message: 1_000, transaction: 0 }
    for (const cores of [1, 2]) {
      const { perSecond, busy } = simulate({ server }, { hosts: 6, window: 4, machines: { kind: 'apart', cores } })
      expect([near(1_000 * cores, perSecond), near(1, busy.database)], `${perSecond}`).toEqual([true, true])
    }
  })

  it('pays for forwarding all messages but the share of their owner', () => {
    const costs = { host: { message: 200, transaction: 0 }, handing: 100, handed: 50 }
    const { perSecond, busy } = simulate(costs, { hosts: 4, knowsOwner: false, window: 64 })
    const each = 200 + (3 / 4) * (100 + 50)
    expect([busy.hosts > 0.9, near((4 * busy.hosts * 1e6) / each, perSecond)], `${perSecond}`).toEqual([true, true])
  })

  it('has more messages per transaction when more are in flight', () => {
    const costs = { host: { message: 20, transaction: 100 }, server: { message: 10, transaction: 500 } }
    const shares = [1, 8, 64].map((window) => simulate(costs, { window }).transactionsPerMessage)
    // a single message is stored in three transactions
    expect(shares[0]).toBeCloseTo(3, 1)
    expect(shares).toEqual(shares.toSorted((a, b) => b - a))
    expect(shares[2]).toBeLessThan(0.2)
  })

  it('with one message in flight waits for the transactions of the previous one', () => {
    const { perSecond, transactionsPerMessage } = simulate({}, { window: 1, networkMs: 1, flushMs: 4 })
    // two transactions, each with two round trips to the database and a flush
    expect(near(1_000 / (2 * (4 + 4)), perSecond), `${perSecond}`).toBe(true)
    expect(transactionsPerMessage).toBeCloseTo(3, 1)
  })

  it('on shared cores is limited by their total time', () => {
    const costs = { host: { message: 100, transaction: 0 }, server: { message: 60, transaction: 0 }, sender: 40 }
    for (const hosts of [2, 4]) {
      const { perSecond } = simulate(costs, { hosts, machines: { kind: 'shared', cores: 2 } })
      expect(near(2 * 5_000, perSecond), `${perSecond}`).toBe(true)
    }
  })

  it('processes fewer messages during upkeep of its hosts', () => {
    const host = { message: 500, transaction: 0 }
    const { perSecond } = simulate({ host, upkeep: { host: 250_000, server: 0 } })
    expect(near(1_500, perSecond), `${perSecond}`).toBe(true)
  })

  it('is deterministic by seed', () => {
    const costs = { host: { message: 100, transaction: 50 }, server: { message: 60, transaction: 100 }, handing: 80 }
    const run = (seed: number) => simulate(costs, { hosts: 3, knowsOwner: false, seed })
    expect(run(7)).toEqual(run(7))
    expect(run(8)).not.toEqual(run(7))
  })
})
