import { describe, expect, it } from 'vitest'
import { executeCommandPlugs } from '../../plugins/execute-command/plug.ts'
import type { DataPort } from '../../src/core/plug/services.ts'
import { runPlugLater, type Call, type Ran } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

function run(kind: 'sensor' | 'actuator', data: DataPort | undefined, call: Call): Promise<Ran> {
  const plug = executeCommandPlugs(data).find((one) => one.kind === kind)
  if (plug === undefined) throw new Error(`no ${kind}`)
  return runPlugLater(plug, call)
}

describe('executeCommand', () => {
  const properties = { command: 'setTemperature', properties: { temperature: 21.5, name: 'other' }, resource: 'r' }
  const command = { name: 'setTemperature', temperature: 21.5 }

  it('sends the command with its properties, and says which rule led to it', async () => {
    const { data, asked } = plugServices()
    const response = { ...command, timestamp: 0 }
    expect(await run('sensor', data, { properties })).toMatchObject({ state: 'Success', rawData: { response } })
    expect(await run('actuator', data, { properties })).toMatchObject({
      message: 'command setTemperature sent',
      rawData: { response },
    })
    const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 1 }
    expect(asked).toEqual([
      { call: 'command', with: ['r', command], cause },
      { call: 'command', with: ['r', command], cause },
    ])
  })

  it('needs no properties', async () => {
    const { data, asked } = plugServices()
    await run('actuator', data, { properties: { command: 'reboot' }, nodeResource: 'r' })
    expect(asked[0]?.with).toEqual(['r', { name: 'reboot' }])
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
