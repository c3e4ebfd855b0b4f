import { describe, expect, it } from 'vitest'
import { updateMetadataPlugs } from '../../plugins/update-metadata/plug.ts'
import type { ResourcePort } from '../../src/core/plug/services.ts'
import { runPlugLater, type Call, type Ran } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

function run(kind: 'sensor' | 'actuator', resources: ResourcePort | undefined, call: Call): Promise<Ran> {
  const plug = updateMetadataPlugs(resources).find((one) => one.kind === kind)
  if (plug === undefined) throw new Error(`no ${kind}`)
  return runPlugLater(plug, call)
}

describe('updateMetadata', () => {
  const properties = { metadata: { floor: 2, old: null }, resource: 'r' }
  const metadata = { id: 'boiler-1', name: 'Boiler', floor: 2, old: null }

  it('sets what it is given, and says which rule led to it', async () => {
    const { resources, asked } = plugServices()
    expect(await run('sensor', resources, { properties, hops: 2 })).toMatchObject({
      state: 'Success',
      rawData: { metadata },
    })
    expect(await run('actuator', resources, { properties, hops: 2 })).toMatchObject({
      message: 'updated r',
      rawData: { metadata },
    })
    const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 3 }
    const expected = { call: 'patch', with: ['r', { floor: 2, old: null }], cause }
    expect(asked).toEqual([expected, expected])
  })

  it('takes the resource of the task, and metadata as JSON text', async () => {
    const { resources, asked } = plugServices()
    await run('actuator', resources, { properties: { metadata: '{"floor":3}' }, taskResource: 'boiler-1' })
    expect(asked[0]?.with).toEqual(['boiler-1', { floor: 3 }])
  })

  it.each([
    ['a refusal', plugServices({ refusing: new Error('/tags <- is no list') }).resources, '/tags <- is no list'],
    ['an engine without resources', undefined, 'the service resources is missing in this engine'],
  ])('is an Error of the sensor and a failure of the actuator for %s', async (_what, resources, text) => {
    const ran = await run('sensor', resources, { properties })
    expect(ran.state).toBe('Error')
    expect(String(ran.rawData?.['error'])).toContain(text)
    await expect(run('actuator', resources, { properties })).rejects.toThrow(text)
  })
})
