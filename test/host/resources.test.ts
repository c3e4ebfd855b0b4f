/** The resources service inside the whole frame: credentials, errors, the API page, what the broker finds. */
import { describe, expect, it } from 'vitest'
import { wholeHost } from './whole-host.ts'

describe('the resources service in the frame', () => {
  it('has the resources that the broker hears of', async () => {
    await using host = await wholeHost()
    const posted = await host.send('POST', '/resources/boiler-7/events', { temperature: 90 })
    expect(posted.statusCode, posted.body).toBe(200)
    const found = () => host.send('GET', '/api/resources/boiler-7')
    await expect.poll(async () => Object.keys((await found()).json<object>())).toEqual(['id', 'lastMessageTimestamp'])
  })

  it('deletes with a resource what it is told to', async () => {
    await using host = await wholeHost()
    const ask = host.send
    await ask('POST', '/resources/boiler-8/events', { temperature: 90 })
    await expect.poll(async () => (await ask('GET', '/api/resources/boiler-8')).statusCode).toBe(200)
    const alarm = { type: 'HOT', text: 'hot', severity: 'MAJOR', source: { id: 'boiler-8' } }
    expect((await ask('POST', '/alarm/alarms', alarm)).statusCode).toBeLessThan(300)
    const alarms = async () => (await ask('GET', '/alarm/alarms?source=boiler-8')).json<{ total: number }>().total
    expect(await alarms()).toBe(1)
    const gone = await ask('DELETE', '/api/resources/boiler-8?cascade=alarms&cascade=measurements&cascade=tasks')
    expect(gone.statusCode, gone.body).toBe(204)
    await expect.poll(() => alarms()).toBe(0)
    expect((await ask('GET', '/resources/boiler-8/current')).statusCode).toBe(404)
  })
})
