import { describe, expect, it } from 'vitest'
import { OpenTenants } from '../../../src/cluster/placement/open-tenants.ts'
import type { TenantLocation } from '../../../src/cluster/placement/placement.ts'
import { slotOf } from '../../../src/cluster/placement/slots.ts'
import { AppError } from '../../../src/kernel/errors.ts'

const silent = { warn: () => undefined, error: () => undefined }

function tenantsAt(place: { now: TenantLocation }) {
  const opened: number[] = []
  const closed: number[] = []
  const tenants = new OpenTenants<{ n: number }>({
    tenants: async () => ['acme', '_host'],
    locate: () => place.now,
    open: async (_tenant, term) => ({ n: opened.push(term) }),
    close: async ({ n }) => void closed.push(n),
    logger: silent,
  })
  return { tenants, opened, closed }
}

// Holds OPENTENANTS-1
describe('what is open of tenants', () => {
  it('and is taken over is one line of the log, whatever fails meanwhile because of it', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `t${n}`)
    const place: { now: TenantLocation } = { now: { kind: 'here', term: 1 } }
    const lines: string[] = []
    const tenants = new OpenTenants<object>({
      tenants: async () => names,
      locate: () => place.now,
      open: async () => ({}),
      close: () => Promise.reject(new AppError('FENCED', 'another host has it')),
      logger: { warn: (line) => void lines.push(line), error: (line) => void lines.push(line) },
    })
    await Promise.all(names.map((name) => tenants.opened(name)))
    place.now = { kind: 'elsewhere', term: 2, url: 'http://other' }
    tenants.lost(names.map(slotOf))
    await tenants.complete()
    await tenants.close()
    const whose = 't0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more'
    expect(lines).toEqual([`another host took over ${whose}; this host dropped its state of these tenants`])
  })

  it('is opened once for all who ask at once, and for a new term again', async () => {
    const place: { now: TenantLocation } = { now: { kind: 'here', term: 1 } }
    const { tenants, opened, closed } = tenantsAt(place)
    const [one, two] = await Promise.all([tenants.opened('acme'), tenants.opened('acme')])
    expect(one).toBe(two)
    expect(tenants.get('acme')).toBe(one)
    place.now = { kind: 'here', term: 3 }
    expect(tenants.get('acme')).toBeUndefined()
    expect(await tenants.opened('acme')).not.toBe(one)
    expect([opened, closed]).toEqual([[1, 3], [1]])
  })

  it('is not assigned once another host has it', async () => {
    const place: { now: TenantLocation } = { now: { kind: 'here', term: 1 } }
    const { tenants, closed } = tenantsAt(place)
    const opening = tenants.opened('acme')
    tenants.lost([slotOf('acme')])
    await expect(opening).rejects.toMatchObject({ code: 'FENCED' })
    place.now = { kind: 'elsewhere', term: 2, url: 'http://other' }
    expect(tenants.get('acme')).toBeUndefined()
    await expect(tenants.opened('acme')).rejects.toMatchObject({ code: 'FENCED' })
    expect(closed).toEqual([1])
  })

  it('goes on by itself when slots come, without what is the host’s own', async () => {
    const { tenants, opened } = tenantsAt({ now: { kind: 'here', term: 1 } })
    tenants.gained()
    await tenants.complete()
    expect(opened).toEqual([1])
    expect([tenants.has('acme'), tenants.has('_host'), tenants.isComplete]).toEqual([true, false, true])
  })

  it('is closed before its slot is released, and visible to its host until then', async () => {
    const place: { now: TenantLocation } = { now: { kind: 'here', term: 1 } }
    const { tenants, closed } = tenantsAt(place)
    const one = await tenants.opened('acme')
    place.now = { kind: 'unowned', term: 1 }
    const releasing = tenants.release(slotOf('acme'))
    expect([tenants.get('acme'), tenants.current('acme')]).toEqual([undefined, one])
    await releasing
    expect([tenants.current('acme'), closed]).toEqual([undefined, [1]])
  })
})
