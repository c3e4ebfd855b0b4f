/** Sends the same requests as two tenants of one host. */
import { describe, expect, it } from 'vitest'
import { wholeHost } from './whole-host.ts'

// Holds HOSTTENANTS-1
describe('what a tenant has', () => {
  it('is invisible to another tenant, which may use the same names', async () => {
    await using host = await wholeHost({ empty: true })
    const things = [
      ['/api/resources', { id: 'boiler' }, '/api/resources/boiler'],
      ['/api/resourcetypes', { id: 'pump' }, '/api/resourcetypes/pump'],
      ['/alarm/alarms', { type: 'HEAT', text: 'hot', severity: 'MAJOR', source: { id: 'boiler' } }, undefined],
      ['/api/templates', { name: 'hot', sensors: [], actuators: [], triggers: [] }, '/api/templates/hot'],
    ] as const
    await host.done('POST', '/resources/kettle/events', { heat: 1 })
    expect((await host.ask('GET', '/resources/kettle/current')).status).toBe(200)
    expect((await host.ask('GET', '/resources/kettle/current', undefined, 'umbrella')).status).toBe(404)
    for (const [path, body, place] of things) {
      const { id } = await host.done<{ id?: string }>('POST', path, body)
      const one = place ?? `${path}/${id}`
      expect([one, (await host.ask('GET', one)).status]).toEqual([one, 200])
      expect([one, (await host.ask('GET', one, undefined, 'umbrella')).status]).toEqual([one, 404])
      expect([one, (await host.ask('DELETE', one, undefined, 'umbrella')).status]).toEqual([one, 404])
      await host.done('POST', path, body, 'umbrella')
    }
  })
})
