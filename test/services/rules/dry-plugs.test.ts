import { describe, expect, it } from 'vitest'
import { createBuiltins } from '../../../plugins/index.ts'
import type { Transport } from '../../../plugins/call-url/transport.ts'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { Plug } from '../../../src/core/plug/plug.ts'
import { dryPlugs } from '../../../src/services/rules/tools/dry-plugs.ts'
import { runPlugLater } from '../../support/plug-context.ts'
import { plugServices } from '../../support/plug-services.ts'

const sent: string[] = []
const transport: Transport = {
  resolve: async () => ['93.184.216.34'],
  send: async ({ method }) => {
    sent.push(method)
    return { status: 204, statusText: '', body: '' }
  },
}

function host(): { plugs: readonly Plug[]; acted: () => readonly string[] } {
  const services = plugServices()
  const plugs = createBuiltins({ services, outbound: { transport } })
  // only calls that change something are made in the name of a rule
  return { plugs, acted: () => services.asked.flatMap(({ call, cause }) => (cause === undefined ? [] : [call])) }
}

function only(plugs: readonly Plug[], kind: Plug['kind'], name: string): Plug {
  const plug = plugs.find((one) => one.name === name && one.kind === kind)
  if (plug === undefined) throw new Error(`no ${kind} ${name}`)
  return plug
}

function examples(plug: Plug): Record<string, unknown> {
  return Object.fromEntries(Object.entries(plug.input).map(([name, field]) => [name, field.example]))
}

const ALL = createBuiltins().map(({ kind, name }) => [kind, name] as const)

describe('a dry run', () => {
  it.each(ALL)('by the %s %s has no outside effect', async (kind, name) => {
    const { plugs, acted } = host()
    const plug = only(dryPlugs(plugs, new Set()), kind, name)
    await runPlugLater(plug, { properties: examples(plug), message: { temperature: 21 } })
    expect(acted()).toEqual([])
  })

  it.each(ALL)('omits the %s %s exactly when it would act', async (kind, name) => {
    const { plugs, acted } = host()
    const plug = only(plugs, kind, name)
    const before = sent.length
    await runPlugLater(plug, { properties: examples(plug), message: { temperature: 21 } })
    const spared = new Set<string>()
    await runPlugLater(only(dryPlugs(plugs, spared), kind, name), {
      properties: examples(plug),
      message: { temperature: 21 },
    })
    const isAct = acted().length > 0 || sent.length > before
    expect(spared.has('node-1')).toBe(kind === 'actuator' || isAct)
  })

  it('treats a sensor that would act as Success without raw data, and reports it', async () => {
    const plug = only(dryPlugs(host().plugs, new Set()), 'sensor', 'storeMessage')
    expect(await runPlugLater(plug, { properties: examples(plug), message: { temperature: 21 } })).toMatchObject({
      state: 'Success',
      rawData: undefined,
      log: ['INFO storeMessage has an effect and was not called; its state is assumed to be Success'],
    })
  })

  it('returns no state for a sensor that would act and has no state Success', async () => {
    const door = definePlug({
      name: 'door',
      version: '1.0.0',
      kind: 'sensor',
      acts: true,
      states: ['OPEN'],
      execute: () => 'OPEN',
    })
    const [dry = door] = dryPlugs([door], new Set())
    expect(await runPlugLater(dry)).toMatchObject({
      state: undefined,
      log: ['INFO door has an effect and was not called; it has no state'],
    })
  })

  it('returns nothing for an actuator, and logs nothing', async () => {
    const plug = only(dryPlugs(host().plugs, new Set()), 'actuator', 'createAlarm')
    expect(await runPlugLater(plug, { properties: examples(plug), message: { temperature: 21 } })).toMatchObject({
      message: undefined,
      log: [],
    })
  })

  it.each(['GET', 'HEAD'])('calls a URL by %s', async (method) => {
    const before = sent.length
    const plug = only(dryPlugs(host().plugs, new Set()), 'sensor', 'callURL')
    await runPlugLater(plug, { properties: { url: 'https://example.com/', method } })
    expect(sent.slice(before)).toEqual([method])
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('calls no URL by %s', async (method) => {
    const before = sent.length
    const plug = only(dryPlugs(host().plugs, new Set()), 'sensor', 'callURL')
    await runPlugLater(plug, { properties: { url: 'https://example.com/', method } })
    expect(sent.slice(before)).toEqual([])
  })
})
