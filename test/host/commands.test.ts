/** A command from its post to its log, through the whole host. */
import { describe, expect, it } from 'vitest'
import { wholeHost } from './whole-host.ts'

describe('a command that is posted', () => {
  it('runs the actuator that the type of the resource maps, and shows in its log', async () => {
    await using host = await wholeHost()
    const actuator = { name: 'updateMetadata', version: 'latest', properties: { metadata: { floor: '{{home}}' } } }
    await host.ask('POST', '/api/resourcetypes', { id: 'pump', home: 7, commands: [{ settle: { actuator } }] })
    await host.ask('POST', '/api/resources', { id: 'p1', resourceTypeId: 'pump' })
    const posted = await host.ask('POST', '/resources/p1/commands', { name: 'settle' })
    expect(posted).toMatchObject({ status: 200, body: { message: 'Published command for p1' } })
    const log = () => host.ask('GET', '/api/resources/p1/commands')
    await expect.poll(async () => (await log()).body['total']).toBe(1)
    expect((await log()).body['values']).toMatchObject([
      { name: 'settle', actuator: 'updateMetadata:1.0.0', result: { success: true, message: 'updated p1' } },
    ])
    expect((await host.ask('GET', '/api/resources/p1')).body).toMatchObject({ floor: 7 })
  })

  it('of a resource that is not there shows in its log, and a resource without commands has none', async () => {
    await using host = await wholeHost()
    await host.ask('POST', '/resources/nobody/commands', { name: 'open' })
    const log = () => host.ask('GET', '/api/resources/nobody/commands')
    await expect
      .poll(async () => (await log()).body['values'])
      .toMatchObject([{ name: 'open', errorMessage: "Resource 'nobody' not found" }])
    await host.ask('POST', '/api/resources', { id: 'r1' })
    expect((await host.ask('GET', '/api/resources/r1/commands')).body).toMatchObject({ values: [], total: 0 })
    expect((await host.ask('GET', '/api/resources/r2/commands')).status).toBe(404)
  })
})
