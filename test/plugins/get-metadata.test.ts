import { describe, expect, it } from 'vitest'
import { getMetadataPlug } from '../../plugins/get-metadata/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

describe('getMetadata', () => {
  it('is Found with the metadata of the resource that is named', async () => {
    const { resources, asked } = plugServices()
    const ran = await runPlugLater(getMetadataPlug(resources), { properties: { resource: 'r' }, taskResource: 'x' })
    expect([ran.state, ran.rawData]).toEqual(['Found', { metadata: { id: 'boiler-1', name: 'Boiler' } }])
    expect(asked).toEqual([{ call: 'get', with: ['r'] }])
  })

  it('takes the resource of the task when none is named', async () => {
    const { resources, asked } = plugServices()
    await runPlugLater(getMetadataPlug(resources), { taskResource: 'boiler-1' })
    expect(asked[0]?.with).toEqual(['boiler-1'])
  })

  it('is Not Found when there is none', async () => {
    const resources = { ...plugServices().resources, get: async () => undefined }
    const ran = await runPlugLater(getMetadataPlug(resources), { taskResource: 'boiler-1' })
    expect([ran.state, ran.rawData]).toEqual(['Not Found', {}])
  })
})
