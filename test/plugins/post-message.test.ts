import { describe, expect, it } from 'vitest'
import { forwardMessagePlugs } from '../../plugins/forward-message/plug.ts'
import { storeMessagePlugs } from '../../plugins/store-message/plug.ts'
import type { DataPort } from '../../src/core/plug/services.ts'
import { runPlugLater, type Call, type Ran } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

describe.each([
  ['storeMessage', storeMessagePlugs, { store: true, forward: false }, 'stored for r'],
  ['forwardMessage', forwardMessagePlugs, { store: false, forward: true }, 'forwarded as r'],
])('%s', (_name, plugs, how, message) => {
  const properties = { payload: { t: 21 }, resource: 'r' }
  const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 3 }

  function run(kind: 'sensor' | 'actuator', data: DataPort | undefined, call: Call): Promise<Ran> {
    const plug = plugs(data).find((one) => one.kind === kind)
    if (plug === undefined) throw new Error(`no ${kind}`)
    return runPlugLater(plug, call)
  }

  it('posts the payload, and says which rule led to it', async () => {
    const { data, asked } = plugServices()
    expect(await run('sensor', data, { properties, hops: 2 })).toMatchObject({ state: 'Success', rawData: {} })
    expect(await run('actuator', data, { properties, hops: 2 })).toMatchObject({ message })
    expect(asked).toEqual([
      { call: 'post', with: ['r', { t: 21 }, how], cause },
      { call: 'post', with: ['r', { t: 21 }, how], cause },
    ])
  })

  it('posts for the resource of the task when no other is named', async () => {
    const { data, asked } = plugServices()
    await run('actuator', data, { properties: { payload: '{"t":1}' }, taskResource: 'boiler-1' })
    expect(asked[0]?.with).toEqual(['boiler-1', { t: 1 }, how])
  })

  it.each([
    ['a refusal', plugServices({ refusing: new Error('too many hops') }).data, 'too many hops'],
    ['an engine without data', undefined, 'the service data is missing in this engine'],
  ])('is an Error of the sensor and a failure of the actuator for %s', async (_, data, text) => {
    const ran = await run('sensor', data, { properties })
    expect(ran.state).toBe('Error')
    expect(String(ran.rawData?.['error'])).toContain(text)
    await expect(run('actuator', data, { properties })).rejects.toThrow(text)
  })
})
