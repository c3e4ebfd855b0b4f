import { describe, expect, it } from 'vitest'
import { getChildrenPlug } from '../../plugins/get-children/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

describe('getChildren', () => {
  it('is Found with the children and their ids', async () => {
    const { resources, asked } = plugServices()
    const ran = await runPlugLater(getChildrenPlug(resources), { taskResource: 'house' })
    const values = [{ id: 'boiler-1', name: 'Boiler' }]
    expect([ran.state, ran.rawData]).toEqual(['Found', { values, childIds: ['boiler-1'] }])
    expect(asked).toEqual([{ call: 'children', with: ['house'] }])
  })

  it('is Not Found when there are none', async () => {
    const resources = { ...plugServices().resources, children: async () => [] }
    const ran = await runPlugLater(getChildrenPlug(resources), { properties: { resource: 'house' } })
    expect([ran.state, ran.rawData]).toEqual(['Not Found', { values: [], childIds: [] }])
  })
})
