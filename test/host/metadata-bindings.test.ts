/** Tests that nodes bound through metadata follow changes of the metadata, in a whole host. */
import { describe, expect, it } from 'vitest'
import { wholeHost, type Body } from './whole-host.ts'

const meter = (id: string) => ({ meter: { $ref: `/resources/${id}` } })
const rule = (resource: string, more: object = {}) => ({
  sensors: [{ label: 'seen', name: 'invokeCount', resource: 'META.$.meter' }],
  task: { name: 'metered', type: 'reactive', resource, ...more },
})

describe('a task whose node is bound by a reference of its resource', () => {
  it('is bound to what the reference says now, and tasks of other resources stay as they are', async () => {
    await using host = await wholeHost()
    await host.done<Body>('POST', '/api/resources', { id: 'room', ...meter('m1') })
    await host.done<Body>('POST', '/api/resources', { id: 'hall', ...meter('m1') })
    const { ID } = await host.done<Body>('POST', '/api/tasks', rule('room'))
    const { ID: other } = await host.done<Body>('POST', '/api/tasks', rule('hall'))
    const ids = async (task: unknown) => (await host.done<Body>('GET', `/api/tasks/${String(task)}`))['resourceIds']
    expect(await ids(ID)).toEqual(['m1'])
    await host.done<Body>('PATCH', '/api/resources/room', { name: 'Room', ...meter('m2') })
    await expect.poll(() => ids(ID)).toEqual(['m2'])
    await host.done<Body>('POST', '/resources/m2/events', { t: 1 })
    const runs = async (task: unknown) =>
      host.done<Body>('GET', `/api/tasks/${String(task)}/childRuns`) as unknown as Promise<readonly object[]>
    await expect.poll(async () => (await host.done<Body>('GET', `/api/tasks/${String(ID)}`))['invocationCount']).toBe(1)
    expect([(await runs(ID)).length, (await runs(other)).length, await ids(other)]).toEqual([2, 1, ['m1']])
  })

  it('follows a reference of the type, and is not started again for other metadata', async () => {
    await using host = await wholeHost()
    await host.done<Body>('POST', '/api/resourcetypes', { id: 'room', ...meter('m1') })
    await host.done<Body>('POST', '/api/resources', { id: 'r1', resourceTypeId: 'room' })
    const { ID } = await host.done<Body>('POST', '/api/tasks', rule('r1'))
    const shown = () => host.done<Body>('GET', `/api/tasks/${String(ID)}`)
    await host.done<Body>('PATCH', '/api/resources/r1', { name: 'x', other: { $ref: '/resources/o' } })
    await host.done<Body>('PATCH', '/api/resourcetypes/room', meter('m2'))
    await expect.poll(async () => (await shown())['resourceIds']).toEqual(['m2'])
    const runs = (await host.done<Body>('GET', `/api/tasks/${String(ID)}/childRuns`)) as unknown as readonly object[]
    expect(runs).toHaveLength(2)
  })
})
