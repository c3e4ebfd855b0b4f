import { describe, expect, it } from 'vitest'
import { queryResourcesPlug } from '../../plugins/query-resources/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

describe('queryResources', () => {
  it('is Collected with what the search finds', async () => {
    const { resources, asked } = plugServices()
    const query = { tag: ['a', 'b'], limit: 5 }
    const ran = await runPlugLater(queryResourcesPlug(resources), { properties: { query } })
    expect([ran.state, ran.rawData]).toEqual(['Collected', { resources: [{ id: 'boiler-1', name: 'Boiler' }] }])
    expect(asked).toEqual([{ call: 'find', with: [query] }])
  })

  it('is Not Collected when it finds nothing', async () => {
    const resources = { ...plugServices().resources, find: async () => [] }
    const ran = await runPlugLater(queryResourcesPlug(resources), { properties: { query: '{"filter":"x"}' } })
    expect([ran.state, ran.rawData]).toEqual(['Not Collected', { resources: [] }])
  })

  it('fails when the search is refused, and without resources', async () => {
    const { resources } = plugServices({ refusing: new Error('/lat <- is no number') })
    const call = { properties: { query: { lat: 'x' } } }
    await expect(runPlugLater(queryResourcesPlug(resources), call)).rejects.toThrow('/lat <- is no number')
    await expect(runPlugLater(queryResourcesPlug(), call)).rejects.toThrow(
      'the service resources is missing in this engine',
    )
  })
})
