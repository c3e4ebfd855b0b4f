import { fastify } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { ByTenant, Gauges } from '../../src/host/gauges.ts'
import type { HostedService } from '../../src/host/hosted-service.ts'
import { HostTenants } from '../../src/host/open-tenants.ts'
import { TenantFigures } from '../../src/host/tenant-figures.ts'
import type { ServiceRegistry } from '../../src/host/wiring/service-registry.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { deferred } from '../support/deferred.ts'
import { until } from '../support/until.ts'
import { HandTimers } from './hand-timers.ts'

/** Collects figures by name, the way a scrape reads them. */
function figuresIn(read: Map<string, () => number>): TenantFigures {
  const watch = (name: string, figure: () => number): void => void read.set(name, figure)
  return new TenantFigures({ watchQueue: watch, watchTotal: watch } as unknown as Gauges)
}

const executed = (count: number) =>
  ({ queries: { gauges: () => ({ running: 1, executed: count }) } }) as unknown as ServiceRegistry

describe('figures of what tenants have', () => {
  it('are one figure for all that are open, and totals of the ones that ended stay', () => {
    const read = new Map<string, () => number>()
    const figures = figuresIn(read)
    figures.queue('queries', ({ queries }) => queries?.gauges().running)
    figures.total('queries-executed', ({ queries }) => queries?.gauges().executed)
    const now = () => [read.get('queries')?.(), read.get('queries-executed')?.()]
    expect(now()).toEqual([0, 0])
    const [one, other] = [executed(3), executed(4)]
    for (const registry of [one, other, {}]) figures.began(registry, 'acme')
    expect(now()).toEqual([2, 7])
    figures.ended(one)
    figures.ended(one)
    expect(now()).toEqual([1, 7])
    figures.began(one, 'acme')
    expect(now()).toEqual([2, 10])
  })
})

describe('figures of each tenant', () => {
  const ended = (delivered: number) =>
    ({ running: { runner: { counts: { deliveries: { delivered, dead: 1 } } } } }) as unknown as ServiceRegistry

  it('have its label up to a hundred tenants, then an empty one, and totals of closed tenants stay', () => {
    let read: (() => ByTenant | Promise<ByTenant>) | undefined
    const gauges = { watchByTenant: (_figure: string, given: typeof read) => (read = given) } as unknown as Gauges
    const figures = new TenantFigures(gauges)
    figures.deliveries(({ running }) => running?.runner.counts?.deliveries)
    const registries = Array.from({ length: 102 }, () => ended(2))
    for (const [i, registry] of registries.entries()) figures.began(registry, `t${i}`)
    const now = () => new Map(read?.() as ByTenant)
    expect(now().get('t99')).toEqual({ delivered: 2, dead: 1 })
    expect(now().get('')).toEqual({ delivered: 4, dead: 2 })
    expect(now().size).toBe(101)
    for (const registry of registries) figures.ended(registry)
    expect(now().get('t99')).toEqual({ delivered: 2, dead: 1 })
    const again = ended(5)
    figures.began(again, 't99')
    expect(now().get('t99')).toEqual({ delivered: 7, dead: 2 })
  })

  it('are left out while they cannot be read', async () => {
    let read: (() => ByTenant | Promise<ByTenant>) | undefined
    const gauges = { watchByTenant: (_figure: string, given: typeof read) => (read = given) } as unknown as Gauges
    const figures = new TenantFigures(gauges)
    figures.byTenant('alarms', ({ queries }) =>
      queries === undefined ? Promise.reject(new Error('away')) : Promise.resolve({ MAJOR: 1 }),
    )
    figures.began({}, 'away')
    figures.began(executed(1), 'here')
    expect([...((await read?.()) ?? [])]).toEqual([['here', { MAJOR: 1 }]])
  })
})

interface Opened {
  readonly tenant: string
  readonly closing: AbortSignal
}

/** Lets a test control the service of each tenant. */
interface Life {
  start: (opened: Opened) => Promise<void> | void
  stop: (tenant: string) => Promise<void> | void
}

async function openHost(stored: readonly string[] = [], life: Partial<Life> = {}) {
  const storage = openMemory()
  const things = { name: 'things', version: 1, fields: {} } as const
  for (const tenant of [...stored, '_host']) await storage.tenant(tenant).collection(things).put('a', {})
  const opened: Opened[] = []
  const closed: string[] = []
  const warned: string[] = []
  const service: HostedService = {
    name: 'brokers',
    description: '',
    routes: () => undefined,
    open: ({ tenant, services }) => ({
      provides: { broker: { neighbours: () => services } as unknown as NonNullable<ServiceRegistry['broker']> },
      life: {
        async start(closing) {
          await life.start?.({ tenant, closing })
          opened.push({ tenant, closing })
        },
        async stop() {
          await life.stop?.(tenant)
          closed.push(tenant)
        },
      },
    }),
  }
  const timers = new HandTimers()
  const logger = { error: () => undefined, warn: (text: string) => void warned.push(text) }
  const tenants = new HostTenants({ storage, figures: figuresIn(new Map()), timers, logger })
  const stop = new AbortController()
  const start = () => tenants.start([service], stop.signal)
  return { tenants, start, stop, opened, closed, warned, timers, names: () => opened.map(({ tenant }) => tenant) }
}

describe('tenants of a host that is alone', () => {
  it('are open from the start when something of them is stored, each with services of its own', async () => {
    const { tenants, start, names } = await openHost(['acme', 'umbrella'])
    await start()
    expect(names().toSorted()).toEqual(['acme', 'umbrella'])
    const acme = tenants.of('acme')
    expect(tenants.of('umbrella').broker).not.toBe(acme.broker)
    expect((acme.broker as unknown as { neighbours: () => unknown }).neighbours()).toBe(acme)
    expect([...tenants.all()]).toHaveLength(2)
  })

  it('are opened once by their first requests, which wait for that', async () => {
    const going = deferred()
    const { tenants, start, names } = await openHost([], { start: () => going.promise })
    await start()
    await using app = fastify()
    app.decorateRequest('tenant', '')
    app.addHook('onRequest', async (request) => void (request.tenant = String(request.headers['x-tenant'] ?? '')))
    tenants.addTo(app)
    app.get('/', ({ tenant }) => (tenant === '' ? 'anybody' : Object.keys(tenants.of(tenant))))
    const ask = (tenant?: string) => app.inject({ url: '/', headers: { ...(tenant && { 'x-tenant': tenant }) } })
    const [one, other] = [ask('acme'), ask('acme')]
    expect((await ask()).body).toBe('anybody')
    expect(names()).toEqual([])
    going.resolve()
    for (const asked of [one, other]) expect((await asked).json()).toEqual(['broker'])
    expect((await ask('acme')).json()).toEqual(['broker'])
    expect(names()).toEqual(['acme'])
  })

  // Holds HOSTTENANTS-2
  it('are not opened by a name without credentials', async () => {
    const { tenants, start, opened } = await openHost()
    await start()
    expect(tenants.find('nobodys')).toBeUndefined()
    expect(() => tenants.of('nobodys')).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    expect(opened).toEqual([])
    await tenants.opened('acme')
    expect(tenants.find('acme')).toBe(tenants.of('acme'))
  })

  // Holds HOSTTENANTS-3
  it('do not delay each other: a failing one is rejected, reported by /health and retried', async () => {
    let fails = true
    const { tenants, start, names, warned, timers } = await openHost(['acme', 'umbrella'], {
      start: ({ tenant }) => {
        if (tenant === 'acme' && fails) throw new Error('its log is torn')
      },
    })
    await start()
    expect(names()).toEqual(['umbrella'])
    expect(tenants.troubles()).toEqual(['tenant acme could not be opened: its log is torn'])
    expect(warned).toEqual(['tenant acme could not be opened: its log is torn; retrying'])
    const refusal = { code: 'CLOSED', status: 503, message: expect.not.stringContaining('torn') as string }
    await expect(tenants.opened('acme')).rejects.toMatchObject(refusal)
    expect(() => tenants.find('acme')).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    fails = false
    timers.advance(10_000)
    await until(() => names().length === 2)
    expect(tenants.troubles()).toEqual([])
    expect(tenants.find('acme')).toBeDefined()
  })

  it('state what was wrong with the name that was requested, and what clients wait for anyhow', async () => {
    for (const code of ['VALIDATION', 'UNAVAILABLE'] as const) {
      const { tenants, start } = await openHost([], {
        start: () => {
          throw new AppError(code, 'said')
        },
      })
      await start()
      await expect(tenants.opened('acme')).rejects.toMatchObject({ code, message: 'said' })
    }
  })

  it('end with the host, also while one is being opened, and none is opened after that', async () => {
    const going = deferred()
    const { tenants, start, stop, opened, closed } = await openHost(['acme'], {
      start: ({ tenant }) => (tenant === 'late' ? going.promise : undefined),
    })
    await start()
    const late = tenants.opened('late')
    stop.abort()
    expect(opened[0]?.closing.aborted).toBe(true)
    const closing = tenants.close()
    going.resolve()
    await Promise.all([late, closing])
    expect(closed.toSorted()).toEqual(['acme', 'late'])
    expect(opened.map(({ closing: signal }) => signal.aborted)).toEqual([true, true])
    await expect(tenants.opened('umbrella')).rejects.toMatchObject({ code: 'CLOSED' })
    expect(opened).toHaveLength(2)
  })

  it('are all closed when one cannot be, which the stop reports', async () => {
    const holding = deferred()
    const { tenants, start, stop, closed } = await openHost(['acme', 'umbrella'], {
      stop: async (tenant) => {
        if (tenant === 'umbrella') return holding.promise
        throw new Error('disk is full')
      },
    })
    await start()
    stop.abort()
    const closing = tenants.close()
    closing.catch(() => undefined)
    await until(() => tenants.stopping === 'brokers')
    holding.resolve()
    await expect(closing).rejects.toThrow('disk is full')
    expect(closed).toEqual(['umbrella'])
  })
})
