/** Tests the targets that built-in plugs declare: calls of one task on one target run in order. */
import { describe, expect, it } from 'vitest'
import { createComposite } from '../../plugins/composite/plug.ts'
import { createBuiltins } from '../../plugins/index.ts'
import { storeMessagePlugs } from '../../plugins/message/plug.ts'
import { touchesWith } from '../../src/core/plug/acts-with.ts'
import { definePlug } from '../../src/core/plug/define.ts'
import type { Plug, TouchContext } from '../../src/core/plug/plug.ts'

const plugs = createBuiltins()
const acting = plugs.filter(({ acts }) => acts !== false)

/** Reasons why calls of these plugs are ordered only by their own node. */
const NODE_ALONE: Readonly<Record<string, string>> = {
  'sensor callURL': 'whether two addresses are one thing is known at the other end alone',
  'actuator callURL': 'whether two addresses are one thing is known at the other end alone',
  'actuator log': 'it changes nothing that another node changes',
  'actuator debugDialog': 'it changes nothing that another node changes',
  'actuator TaskOutput': 'it changes nothing that another node changes',
}

const nameOf = ({ kind, name }: Plug): string => `${kind} ${name}`
const from = (resource?: string): TouchContext => ({ taskId: 't', resource })

function touches(kind: Plug['kind'], name: string, properties: object, context = from('boiler-1')): readonly string[] {
  const plug = plugs.find((one) => one.name === name && one.kind === kind)
  if (plug === undefined) throw new Error(`no ${kind} ${name}`)
  const things = touchesWith(plug, { ...properties }, context)
  if (things === undefined) throw new Error(`${name} does not say what it touches`)
  return things
}

/** Whether two calls keep their order. */
function meet(one: readonly string[], other: readonly string[]): boolean {
  return one.some((thing) => other.includes(thing))
}

describe('targets of acting plugs', () => {
  it.each(acting.map((plug) => [nameOf(plug), plug] as const))(
    'are declared by %s, unless it has a listed reason',
    (name, plug) => {
      expect(plug.touches === undefined).toBe(name in NODE_ALONE)
    },
  )

  it.each(['sensor', 'actuator'] as const)('of a %s are the alarm, by its source and type', (kind) => {
    const type = 'HEAT'
    for (const name of ['createAlarm', 'clearAlarm']) {
      expect(touches(kind, name, { type })).toContain('alarm:boiler-1/HEAT')
      expect(touches(kind, name, { type, resource: 'own' })).toContain('alarm:own/HEAT')
      expect(touches(kind, name, { type, resource: '$taskId' })).toContain('alarm:t/HEAT')
    }
  })

  it.each(['sensor', 'actuator'] as const)('of a %s are the resource', (kind) => {
    for (const [name, properties] of [
      ['storeMessage', { payload: {} }],
      ['forwardMessage', { payload: {} }],
      ['executeCommand', { command: 'on' }],
      ['updateMetadata', { metadata: {} }],
    ] as const) {
      expect(touches(kind, name, properties)).toContain('resource:boiler-1')
      expect(touches(kind, name, { ...properties, resource: 'own' })).toContain('resource:own')
    }
  })

  it('differ for alarms of other types or sources, and for resources', () => {
    const heat = touches('actuator', 'createAlarm', { type: 'HEAT' })
    expect(meet(heat, touches('actuator', 'createAlarm', { type: 'COLD' }))).toBe(false)
    expect(meet(heat, touches('actuator', 'clearAlarm', { type: 'HEAT', resource: 'boiler-2' }))).toBe(false)
    expect(meet(heat, touches('actuator', 'storeMessage', { payload: {} }))).toBe(false)
  })

  it('overlap for alarms with one deduplication key, of any types', () => {
    const keyed = (type: string) => touches('actuator', 'createAlarm', { type, properties: { dedupKey: 'k' } })
    expect(meet(keyed('HEAT'), keyed('COLD'))).toBe(true)
    expect(meet(keyed('HEAT'), touches('actuator', 'clearAlarm', { type: 'HEAT' }))).toBe(true)
  })

  it('are every alarm for a change by id, which does not name source and type', () => {
    const update = touches('actuator', 'updateAlarm', { alarmId: 'a' })
    for (let i = 0; i < 200; i++) {
      expect(meet(update, touches('sensor', 'createAlarm', { type: `type-${i}` }))).toBe(true)
      expect(meet(update, touches('actuator', 'clearAlarm', { type: 'HEAT', resource: `boiler-${i}` }))).toBe(true)
    }
    expect(meet(update, touches('actuator', 'storeMessage', { payload: {} }))).toBe(false)
  })

  it.each(['$', '$other', '${broken'])('are every resource for %s, which only the call can resolve', (resource) => {
    const unknown = touches('actuator', 'storeMessage', { payload: {}, resource })
    for (let i = 0; i < 200; i++) {
      expect(meet(unknown, touches('actuator', 'updateMetadata', { metadata: {}, resource: `r${i}` }))).toBe(true)
    }
  })

  it('are every resource when neither node nor task has a resource', () => {
    const nowhere = touches('actuator', 'storeMessage', { payload: {} }, from())
    expect(meet(nowhere, touches('actuator', 'storeMessage', { payload: {} }))).toBe(true)
  })
})

describe('targets of composite', () => {
  const silent = definePlug({ name: 'silent', version: '1.0.0', kind: 'sensor', acts: true, execute: () => ({}) })
  const composite = createComposite([...storeMessagePlugs(), silent])
  const of = (sensor: string, propertyList: readonly unknown[]) =>
    touchesWith(composite, { sensor, propertyList }, from('boiler-1'))

  it('are the targets of its calls', () => {
    const things = of('storeMessage', [
      { payload: {} },
      { payload: '{}', resource: 'own' },
      { resource: 'unusable' },
      1,
    ])
    expect(things).toEqual(expect.arrayContaining(['resource:boiler-1', 'resource:own']))
    expect(things).not.toContain('resource:unusable')
  })

  it('are the sensor itself if its item does not declare targets', () => {
    expect(of('silent', [{}, {}])).toEqual(['composite:silent'])
    expect(of('nope', [{}])).toEqual([])
  })
})
