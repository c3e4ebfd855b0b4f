/** Tests where errors of a task from a template point: into the request body, or to the stored template. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { Template } from '../../../src/index.ts'
import { pluck } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-rules.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { PLUGS, templateOf } from './support/rules.ts'

const TEMPLATE: Template = {
  name: 'two boilers',
  sensors: [
    { label: 'hot', name: 'heat', version: '1.0.0', resource: '$', properties: { limit: 90 } },
    { label: 'open', name: 'heat', version: '1.0.0', resource: '$' },
  ],
  actuators: [{ label: 'alarm', name: 'say', version: '1.0.0', properties: { text: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['HOT'] }],
  variables: [{ name: 'count', type: 'integer' }],
  taskDefaults: { type: 'periodic', frequency: 60_000, variables: { count: 'many' } },
}
const made = { template: 'two boilers', name: 'm', resource: 'b', variables: { count: 1 } }
const whole = { name: 'open', properties: { sensor: { requiredProperties: [{ limit: 1 }] } } }

let rules: Bench
beforeAll(async () => {
  rules = await bench()
  await rules.api.templates.create(TEMPLATE)
})
afterAll(() => rules.close())

const hot = (properties: object) => ({ ...made, nodes: [whole, { name: 'hot', properties }] })

describe('an error in a request', () => {
  it.each([
    [
      'a property among several',
      hot({ sensor: { requiredProperties: [{ limit: 1 }, { limit: 'x' }] } }),
      '/nodes/1/properties/sensor/requiredProperties/1/limit',
    ],
    [
      'a property of a plain object',
      hot({ sensor: { requiredProperties: { limit: 'x' } } }),
      '/nodes/1/properties/sensor/requiredProperties/limit',
    ],
    ['a version', hot({ sensor: { version: '9.9.9' } }), '/nodes/1/properties/sensor/version'],
    ['a resource', hot({ resource: ' ' }), '/nodes/1/properties/resource'],
    [
      'an actuator through the node that fires it',
      hot({ actions: [{ label: 'alarm', requiredProperties: [{ text: { a: 1 } }] }] }),
      '/nodes/1/properties/actions/0/requiredProperties/0/text',
    ],
    [
      'the only actuator that a node fires',
      hot({ actions: [{ requiredProperties: [{ text: '${' }] }] }),
      '/nodes/1/properties/actions/0/requiredProperties/0/text',
    ],
    ['a node that does not exist', { ...made, nodes: [whole, { name: 'hat', properties: {} }] }, '/nodes/1/name'],
    ['a setting', { ...made, nodes: [whole], type: 'scheduled', cron: 'never' }, '/cron'],
    ['a setting that is missing', { ...made, nodes: [whole], type: 'scheduled' }, '/cron'],
    ['a variable', { ...made, nodes: [whole], variables: { count: 'x' } }, '/variables/count'],
  ])('points at %s', async (_what, body, path) => {
    const answer = await rules.ask('POST', '/api/tasks', body)
    expect(answer.status).toBe(400)
    expect(pluck(answer.at('details'), 'path')).toContain(path)
    expect(answer.at('error')).not.toMatch(/\/(?:sensors|actuators|task)\//)
  })

  it('points at the override that takes effect', async () => {
    const bad = { name: 'hot', properties: { sensor: { requiredProperties: [{ limit: 'x' }] } } }
    const good = { name: 'hot', properties: { sensor: { requiredProperties: [{ limit: 1 }] } } }
    const ask = (...nodes: readonly object[]) => rules.ask('POST', '/api/tasks', { ...made, nodes: [whole, ...nodes] })
    expect((await ask(bad, good)).status).toBe(201)
    expect((await ask(good, bad)).at('error')).toContain('/nodes/2/properties/sensor/requiredProperties/0/limit')
  })

  it('points at the place of a warning too', async () => {
    const body = hot({ sensor: { requiredProperties: [{ lmit: 1 }] } })
    const answer = await rules.ask('POST', '/api/tasks?returnWarnings', body)
    const path = '/nodes/1/properties/sensor/requiredProperties/0/lmit'
    expect(answer.at('warnings')).toMatchObject([{ type: 'UNKNOWN_PROPERTY', path }])
  })

  it('points into the parameters of an update', async () => {
    const { ID } = await rules.api.tasks.create({ ...made, nodes: [whole] })
    const update = async (...nodes: readonly object[]) => {
      const request = { entity: 'task', action: 'updateProperties', query: { ids: [ID] } } as const
      const { results } = await rules.api.batches.run({ ...request, actionParameters: { nodes } })
      return results?.failure[ID]?.error
    }
    const limit = (value: unknown) => ({
      name: 'hot',
      properties: { sensor: { requiredProperties: [{ limit: value }] } },
    })
    expect(await update(limit(70))).toBeUndefined()
    expect(await update(limit(70), limit('x'))).toContain(
      '/actionParameters/nodes/1/properties/sensor/requiredProperties/0/limit <-',
    )
    expect(await update({ name: 'hat', properties: {} })).toContain('/actionParameters/nodes/0/name <-')
  })
})

describe('an error about the stored template', () => {
  it('names the template, and the place in it', async () => {
    const answer = await rules.ask('POST', '/api/tasks', made)
    expect(answer.status).toBe(400)
    expect(answer.at('details')).toEqual([
      {
        type: 'PROPERTY',
        severity: 'ERROR',
        path: '/template',
        message:
          'template "two boilers" (version 1) has at /sensors/1/properties/limit: sensor "open": the property "limit" is missing',
        suggestion: 'write "limit": 21.5, there or in "nodes"',
        details: { path: '/sensors/1/properties/limit' },
      },
    ])
  })

  it('points at its defaults', async () => {
    const { variables: _sent, ...body } = made
    const answer = await rules.ask('POST', '/api/tasks', { ...body, nodes: [whole] })
    expect(answer.at('error')).toContain(
      '/template <- template "two boilers" (version 1) has at /taskDefaults/variables/count',
    )
  })

  it('is reported when it is no longer valid, for any request', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    await before.api.templates.create(templateOf())
    await before.close()
    await before.storage.close()
    const strict = definePlug({
      name: 'heat',
      version: '1.0.0',
      kind: 'sensor',
      states: ['COLD', 'HOT'],
      input: { limit: { type: 'boolean', mandatory: true } },
      execute: () => 'COLD',
    })
    const plugs = [strict, ...PLUGS.filter(({ name }) => name !== 'heat')]
    const after = await bench({ storage: openMemory({ disk }), plugs })
    const nodes = [{ name: 'hot', properties: { sensor: { requiredProperties: [{ limit: true }] } } }]
    const answer = await after.ask('POST', '/api/tasks', { template: 'overheating', name: 'm', resource: 'b', nodes })
    expect(answer.at('details')).toMatchObject([
      { path: '/template', details: { path: '/sensors/0/properties/limit' } },
    ])
    await after.close()
  })
})
