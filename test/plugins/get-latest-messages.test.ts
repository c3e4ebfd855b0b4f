import { describe, expect, it } from 'vitest'
import { getLatestMessagesPlug } from '../../plugins/get-latest-messages/plug.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

describe('getLatestMessages', () => {
  it('has the messages and their count', async () => {
    const { data, asked } = plugServices()
    const ran = await runPlugLater(getLatestMessagesPlug(data), { properties: { limit: 5 }, taskResource: 'r' })
    expect(ran).toMatchObject({ state: 'Collected', rawData: { data: [{ temperature: 21, timestamp: 0 }], count: 1 } })
    expect(asked[0]?.with).toEqual(['r', 5])
  })

  it.each([
    [undefined, 100],
    [0, 1],
    [1_000, 100],
  ])('asks for %s as %i', async (limit, most) => {
    const { data, asked } = plugServices()
    await runPlugLater(getLatestMessagesPlug(data), { properties: { resource: 'r', limit } })
    expect(asked[0]?.with).toEqual(['r', most])
  })

  it('has not collected anything when there is nothing', async () => {
    const data = { ...plugServices().data, messages: async () => [] }
    const ran = await runPlugLater(getLatestMessagesPlug(data), { properties: { resource: 'r' } })
    expect(ran).toMatchObject({ state: 'Not Collected', rawData: { data: [], count: 0 } })
  })

  it('fails without data, and wants a limit from 1 to 100', async () => {
    await expect(runPlugLater(getLatestMessagesPlug(), { taskResource: 'r' })).rejects.toThrow(
      'the service data is missing in this engine',
    )
    expect(checkPlug(getLatestMessagesPlug(), { limit: 101 })).toEqual(['limit: limit 101 is out of range'])
    expect(checkPlug(getLatestMessagesPlug(), { limit: 100 })).toEqual([])
  })
})
