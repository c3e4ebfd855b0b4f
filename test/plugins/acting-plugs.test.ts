/**
 * Tests plugs that change something through a service: their requests, the user they act for, and their result when the
 * service rejects.
 */
import { describe, expect, it } from 'vitest'
import { clearAlarmPlugs } from '../../plugins/clear-alarm/plug.ts'
import { executeCommandPlugs } from '../../plugins/execute-command/plug.ts'
import { forwardMessagePlugs, storeMessagePlugs } from '../../plugins/message/plug.ts'
import { updateMetadataPlugs } from '../../plugins/update-metadata/plug.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import type { PlugServices } from '../../src/core/plug/services.ts'
import { runPlugLater, type Call, type Ran } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

interface Acting {
  readonly plugs: (services: PlugServices) => readonly [Plug, Plug]
  readonly properties: Record<string, unknown>
  /** expected calls of the service: for resource r with these properties, and for boiler-1 with the others */
  readonly call: string
  readonly asks: readonly unknown[]
  readonly other: { readonly properties: Record<string, unknown>; readonly asks: readonly unknown[] }
  readonly rawData?: object
  readonly message: string
  readonly without: string
}

const message = (how: object): Pick<Acting, 'properties' | 'call' | 'asks' | 'other' | 'without'> => ({
  properties: { payload: { t: 21 }, resource: 'r' },
  call: 'post',
  asks: [{ t: 21 }, how],
  other: { properties: { payload: '{"t":1}' }, asks: [{ t: 1 }, how] },
  without: 'the service data is missing in this engine',
})
const command = { name: 'setTemperature', temperature: 21.5 }

const ACTING: Readonly<Record<string, Acting>> = {
  storeMessage: {
    ...message({ store: true, forward: false }),
    plugs: ({ data }) => storeMessagePlugs(data),
    rawData: {},
    message: 'stored for r',
  },
  forwardMessage: {
    ...message({ store: false, forward: true }),
    plugs: ({ data }) => forwardMessagePlugs(data),
    rawData: {},
    message: 'forwarded as r',
  },
  executeCommand: {
    plugs: ({ data }) => executeCommandPlugs(data),
    properties: { command: 'setTemperature', properties: { temperature: 21.5, name: 'other' }, resource: 'r' },
    call: 'command',
    asks: [command],
    other: { properties: { command: 'reboot' }, asks: [{ name: 'reboot' }] },
    rawData: { response: { ...command, timestamp: 0 } },
    message: 'command setTemperature sent',
    without: 'the service data is missing in this engine',
  },
  updateMetadata: {
    plugs: ({ resources }) => updateMetadataPlugs(resources),
    properties: { metadata: { floor: 2, old: null }, resource: 'r' },
    call: 'patch',
    asks: [{ floor: 2, old: null }],
    other: { properties: { metadata: '{"floor":3}' }, asks: [{ floor: 3 }] },
    rawData: { metadata: { id: 'boiler-1', name: 'Boiler', floor: 2, old: null } },
    message: 'updated r',
    without: 'the service resources is missing in this engine',
  },
  clearAlarm: {
    plugs: ({ alarms }) => clearAlarmPlugs(alarms),
    properties: { type: 'HEAT', resource: 'r' },
    call: 'clear',
    asks: ['HEAT'],
    other: { properties: { type: 'COLD' }, asks: ['COLD'] },
    rawData: { alarms: [{ id: 'alarm-1' }] },
    message: '1 cleared',
    without: 'the service alarms is missing in this engine',
  },
}

describe.each(Object.entries(ACTING))('%s', (_name, { plugs, properties, call, asks, other, ...gives }) => {
  function run(kind: 'sensor' | 'actuator', services: PlugServices, given: Call): Promise<Ran> {
    const plug = plugs(services).find((one) => one.kind === kind)
    if (plug === undefined) throw new Error(`no ${kind}`)
    return runPlugLater(plug, given)
  }

  it('passes its properties and the causing rule to the service', async () => {
    const { asked, ...services } = plugServices()
    const { rawData, message: text } = gives
    expect(await run('sensor', services, { properties, hops: 2 })).toMatchObject({ state: 'Success', rawData })
    const acted = await run('actuator', services, { properties, hops: 2 })
    expect(acted).toMatchObject(call === 'post' ? { message: text } : { message: text, rawData })
    const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 3 }
    const expected = { call, with: ['r', ...asks], cause }
    expect(asked).toEqual([expected, expected])
  })

  it.each([
    ['node', { nodeResource: 'boiler-1', taskResource: 'house' }],
    ['task', { taskResource: 'boiler-1' }],
  ])('uses the resource of the %s by default', async (_of, around) => {
    const { asked, ...services } = plugServices()
    await run('actuator', services, { properties: other.properties, ...around })
    expect(asked[0]?.with).toEqual(['boiler-1', ...other.asks])
  })

  it.each([
    ['a refusal', plugServices({ refusing: new Error('too many hops') }), 'too many hops'],
    ['an engine without its service', {}, gives.without],
  ])('reports Error as a sensor and fails as an actuator for %s', async (_what, services, text) => {
    const ran = await run('sensor', services, { properties })
    expect(ran.state).toBe('Error')
    expect(String(ran.rawData?.['error'])).toContain(text)
    await expect(run('actuator', services, { properties })).rejects.toThrow(text)
  })
})
