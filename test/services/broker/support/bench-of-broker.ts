/**
 * Provides the broker on memory, with an HTTP app, an engine that records what it receives, and a clock moved by hand.
 */
import type { AddressInfo } from 'node:net'
import type { InjectOptions } from 'fastify'
import { messageBody } from '../../../../src/log/message-entry.ts'
import { type Followed, type NewEntry, TenantLog } from '../../../../src/log/tenant-log.ts'
import type { ForwardedPost, Forwarding } from '../../../../src/services/broker/contract.ts'
import { brokerErrorBody } from '../../../../src/services/broker/error-body.ts'
import { brokerRoutes } from '../../../../src/services/broker/api.ts'
import { createBrokerService, type BrokerDependencies } from '../../../../src/services/broker/service.ts'
import type { Storage, Write } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { ask, trustingApp } from '../../support/trusting-app.ts'

/** 2026-11-20T12:00:00Z */
export const NOON = Date.UTC(2026, 10, 20, 12)

type Forwarded = ForwardedPost['messages']

/** An engine that accepts everything and does not use the log. */
export class TakingEngine implements Forwarding {
  readonly taken: { readonly messages: Forwarded; readonly hops: number }[] = []
  readonly #log: TenantLog

  constructor(log: TenantLog) {
    this.#log = log
  }

  /** Messages in the order of their arrival */
  get messages(): readonly Forwarded[number][] {
    return this.taken.flatMap(({ messages }) => messages)
  }

  async receive(posts: readonly ForwardedPost[], writes: readonly Write[], followed: Followed) {
    const entries = posts.flatMap(({ messages, ...how }): NewEntry[] => {
      const [only] = messages
      const body = { ...how, messages: messages.length === 1 ? only : messages }
      return how.kept === undefined ? [] : [{ body: messageBody(body, undefined) }]
    })
    await this.#log.add({
      entries,
      writes,
      followed: (place) => {
        for (const { messages, hops = 0 } of posts) this.taken.push({ messages, hops })
        followed(place)
      },
    })
  }
}

/** Timers that the test fires. */
export class HandTimers {
  /** Monotonic ms */
  elapsed = 0
  readonly #works = new Map<number, Set<() => void>>()

  readonly every = (ms: number, work: () => void): (() => void) => {
    const works = this.#works.get(ms) ?? new Set()
    this.#works.set(ms, works.add(work))
    return () => works.delete(work)
  }

  /** Runs everything scheduled with the interval `ms`, `times` times. */
  fire(ms: number, times = 1): void {
    for (let i = 0; i < times; i++) for (const work of this.#works.get(ms) ?? []) work()
  }
}

export type BrokerBench = Awaited<ReturnType<typeof brokerBench>>

export interface BenchOptions extends Partial<Omit<BrokerDependencies, 'now' | 'every' | 'report' | 'store'>> {
  /** Contains the store of tenant `acme` */
  readonly storage?: Storage
  readonly clock?: { now: number }
  /** Ids of this process and of its store; default: `life1`, and a volatile store */
  readonly life?: string
  readonly store?: string
}

export async function brokerBench(options: BenchOptions = {}) {
  const {
    clock = { now: NOON },
    storage = openMemory({ clock: () => clock.now }),
    lag,
    life = 'life1',
    store: storeId,
    ...parts
  } = options
  const store = storage.tenant('acme')
  const log = parts.log ?? new TenantLog(store)
  const engine = new TakingEngine(log)
  const timers = new HandTimers()
  const reports: string[] = []
  const service = createBrokerService({
    tenant: 'acme',
    store,
    log,
    now: () => clock.now,
    engine: () => engine,
    report: (what) => reports.push(what),
    every: timers.every,
    elapsed: () => timers.elapsed,
    lag: { restMs: 0, ...lag },
    ...parts,
  })
  await service.start()
  const { every } = timers
  const app = await trustingApp(brokerErrorBody, (scope) =>
    brokerRoutes(scope, { service, life, store: storeId, frameBytes: 1_000_000, every }),
  )
  return {
    service,
    storage,
    engine,
    timers,
    clock,
    /** Failures without a caller */
    reports,
    /** API of the tester of tenant `acme` */
    api: service.as({ tenant: 'acme', user: 'tester' }),
    app,
    ask: (method: InjectOptions['method'], url: string, body?: unknown, headers?: Record<string, string>) =>
      ask(app, method, url, body, headers),
    /** Listens and returns the base address */
    async listen(): Promise<string> {
      await app.listen({ port: 0, host: '127.0.0.1' })
      return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    },
    async [Symbol.asyncDispose]() {
      await service.stop()
      await app.close()
    },
  }
}
