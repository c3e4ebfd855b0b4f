/** Tests that rules over groups follow the resources of a whole host, also across a restart. */
import { describe, expect, it } from 'vitest'
import { testFolder } from '../support/test-folder.ts'
import { wholeHost, type Body, type WholeHost } from './whole-host.ts'

const ruleOver = (group: object) => ({
  sensors: [{ label: 'hot', name: 'streamingDataSensor', group, properties: { parameter: 't', threshold: 50 } }],
  relations: [{ label: 'two', type: 'COUNT', parentLabels: ['hot'], combinations: [['Above']], atLeast: 2 }],
  actuators: [{ label: 'act', name: 'log', properties: { message: 'two are hot' } }],
  triggers: [{ sourceLabel: 'two', destinationLabel: 'act', begins: ['TRUE'] }],
  task: { name: 'group', type: 'reactive' },
})

const at = (host: WholeHost, task: unknown, path = '') => host.done<Body>('GET', `/api/tasks/${String(task)}${path}`)

const folder = testFolder()

// Holds GROUPS-1, GROUPS-2
describe('a task over a group', () => {
  it.each([
    ['a type', { type: 'pump' }],
    ['a tag', { tag: 'critical' }],
    ['a parent', { parent: 'hall' }],
    ['a query', { query: 'floor:3' }],
  ])('of %s has the resources that belong to it, while they change', async (_, group) => {
    await using host = await wholeHost()
    await host.done<Body>('POST', '/api/resourcetypes', { id: 'pump' })
    await host.done<Body>('POST', '/api/resources', { id: 'hall' })
    const inGroup = {
      resourceTypeId: 'pump',
      tags: ['critical'],
      parentId: 'hall',
      floor: 3,
    }
    const add = (id: string) => host.done<Body>('POST', '/api/resources', { id, ...inGroup })
    await add('p1')
    await host.done<Body>('POST', '/api/resources', { id: 'other' })
    const { ID } = await host.done<Body>('POST', '/api/tasks', ruleOver(group))
    const view = async () => {
      const node = await at(host, ID, '/nodes/hot')
      return node['members']
    }
    await expect.poll(view).toEqual({ count: 1, known: 0 })
    await add('p2')
    await expect.poll(view).toEqual({ count: 2, known: 0 })
    for (const id of ['p1', 'p2', 'other']) await host.done<Body>('POST', `/resources/${id}/events`, { t: 60 })
    await expect.poll(view).toEqual({ count: 2, known: 2 })
    await host.send('DELETE', '/api/resources/p1')
    await expect.poll(view).toEqual({ count: 1, known: 1 })
  })

  it('goes on after a restart with the states of its members, and with members that changed meanwhile', async () => {
    const given = { data: folder }
    let id: unknown
    {
      await using host = await wholeHost(given)
      for (const one of ['p1', 'p2']) await host.done('POST', '/api/resources', { id: one, tags: ['critical'] })
      id = (await host.done<Body>('POST', '/api/tasks', ruleOver({ tag: 'critical' })))['ID']
      await expect.poll(async () => (await at(host, id, '/nodes/hot'))['members']).toEqual({ count: 2, known: 0 })
      await host.done('POST', '/resources/p1/events', { t: 60 })
    }
    await using host = await wholeHost(given)
    await expect.poll(async () => (await at(host, id, '/nodes/hot'))['members']).toEqual({ count: 2, known: 1 })
    await host.done('POST', '/resources/p2/events', { t: 60 })
    await expect
      .poll(async () => (await at(host, id, '/nodes/two'))['mostLikelyState'])
      .toMatchObject({ state: 'TRUE' })
  })
})
