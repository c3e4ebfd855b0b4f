import { describe, expect, it } from 'vitest'
import type { Gauges } from '../../src/host/gauges.ts'
import type { HostedService } from '../../src/host/hosted-service.ts'
import { OpenTenants } from '../../src/host/open-tenants.ts'
import { TenantFigures } from '../../src/host/tenant-figures.ts'
import type { ServiceRegistry } from '../../src/host/wiring/service-registry.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'

/** Figures by name, as a scrape reads them. */
function figuresIn(read: Map<string, () => number>): TenantFigures {
  const watch = (name: string, figure: () => number): void => void read.set(name, figure)
  return new TenantFigures({ watchQueue: watch, watchTotal: watch } as unknown as Gauges)
}

const executed = (count: number) =>
  ({ queries: { gauges: () => ({ running: 1, executed: count }) } }) as unknown as ServiceRegistry

describe('figures of what tenants have', () => {
  it('are one figure for all that are open, and totals of those that ended stay', () => {
    const read = new Map<string, () => number>()
    const figures = figuresIn(read)
    figures.queue('queries', ({ queries }) => queries?.gauges().running)
    figures.total('queries-executed', ({ queries }) => queries?.gauges().executed)
    const now = () => [read.get('queries')?.(), read.get('queries-executed')?.()]
    expect(now()).toEqual([0, 0])
    const [one, other] = [executed(3), executed(4)]
    for (const registry of [one, other, {}]) figures.began(registry)
    expect(now()).toEqual([2, 7])
    figures.ended(one)
    figures.ended(one)
    expect(now()).toEqual([1, 7])
    figures.began(one)
    expect(now()).toEqual([2, 10])
  })
})

describe('tenants of a host that is alone', () => {
  function openHost() {
    const opened: string[] = []
    const read = new Map<string, () => number>()
    const figures = figuresIn(read)
    figures.total('queries-executed', ({ queries }) => queries?.gauges().executed)
    figures.total('brokers', ({ broker }) => broker && 1)
    const own: HostedService = {
      name: 'own',
      description: '',
      routes: () => undefined,
      open: ({ tenant, services }) => {
        opened.push(tenant)
        return {
          ...executed(1),
          vault: { neighbours: () => services() } as unknown as NonNullable<ServiceRegistry['vault']>,
        }
      },
    }
    const shared: HostedService = {
      name: 'shared',
      description: '',
      routes: () => undefined,
      openShared: ({ registry }) => {
        registry.broker = {} as NonNullable<ServiceRegistry['broker']>
        return {}
      },
    }
    const tenants = new OpenTenants({ storage: openMemory(), figures, data: '' })
    tenants.open([own, shared])
    return { tenants, opened, figures: () => [read.get('queries-executed')?.(), read.get('brokers')?.()] }
  }

  it('have services of their own once they are asked for, and share the others', () => {
    const { tenants, opened } = openHost()
    const acme = tenants.of('acme')
    expect(tenants.of('acme')).toBe(acme)
    expect(tenants.of('umbrella').broker).toBe(acme.broker)
    expect(tenants.of('umbrella').vault).not.toBe(acme.vault)
    expect(opened).toEqual(['acme', 'umbrella'])
    expect((acme.vault as unknown as { neighbours: () => unknown }).neighbours()).toBe(acme)
  })

  it('are not opened by a name without credentials', () => {
    const { tenants, opened } = openHost()
    expect(tenants.find('nobodys')).toHaveProperty('broker')
    expect(tenants.find('nobodys')).not.toHaveProperty('vault')
    expect(opened).toEqual([])
    expect(tenants.find('acme')).not.toBe(tenants.of('acme'))
    expect(tenants.find('acme')).toBe(tenants.of('acme'))
  })

  it('count what is shared once, and what is their own each', () => {
    const { tenants, figures } = openHost()
    for (const name of ['acme', 'umbrella', 'acme']) tenants.of(name)
    expect(figures()).toEqual([2, 1])
  })
})
