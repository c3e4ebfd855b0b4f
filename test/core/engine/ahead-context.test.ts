import { describe, expect, it } from 'vitest'
import { AheadContext } from '../../../src/core/engine/ahead-context.ts'
import { Clocks } from '../../../src/core/engine/clocks.ts'
import { buildModel, limitsOf } from '../../../src/core/engine/model.ts'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import type { SensorNode } from '../../../src/core/graph/graph.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { on, rule } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

function context(): AheadContext {
  const preparer = new Preparer(createRegistry(new ScriptedPlugs().plugs))
  const prepared = preparer.prepare(rule({ sensors: { s: on('switch') }, task: { resource: 'house' } }))
  const model = buildModel('t', prepared, ['r'], 0, limitsOf({}), new Clocks())
  const node = model.graph.sensors[0] as SensorNode
  const message = { resource: 'r', level: 20, gone: undefined }
  const input = { kind: 'data' as const, messages: [message], sent: { hops: 3 } }
  return new AheadContext(model, node, message, { time: 500, number: 7, input }, { unit: 'C' })
}

describe('a call before its turn', () => {
  it('sees its message, the time of the message, and constant values', () => {
    const seen = context()
    expect(seen).toMatchObject({
      now: 500,
      id: 't/ahead/7/0',
      hops: 3,
      globalSettings: { unit: 'C' },
      streamData: { resource: 'r', level: 20 },
      task: { TASK_ID: 't', RESOURCE: 'house', NODE_NAME: 's' },
      node: { NAME: 's', RESOURCE: 'r', TRIGGER: undefined },
    })
    expect(seen.lookup(['streamdata', 'level'])).toBe(20)
    expect(seen.loopItem()).toBeUndefined()
  })

  it.each([
    ['level', 20, 500, true],
    ['gone', undefined, undefined, false],
    ['missing', undefined, undefined, false],
    ['toString', undefined, undefined, false],
  ])('reads the value %s of that message alone', (key, value, time, isNew) => {
    const seen = context()
    expect([seen.streamValue(key), seen.streamTime(key), seen.isNew(key)]).toEqual([value, time, isNew])
    expect(seen.streamTime()).toBe(500)
  })

  it('keeps its lines of the log until they are reported', () => {
    const { log, lines } = context()
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual(['DEBUG a', 'INFO b', 'WARN c', 'ERROR d'])
  })

  it.each<[string, (seen: AheadContext) => unknown]>([
    ['its memory', (seen) => seen.internalState],
    ['other nodes', (seen) => seen.rawData],
    ['other nodes', (seen) => seen.nodeData()],
    ['other nodes', (seen) => seen.lookup(['nodes', 'a', 'state'])],
    ['answers of actuators', (seen) => seen.actuatorData],
    ['chance', (seen) => seen.random()],
    ['metadata', (seen) => seen.taskMetadata()],
    ['metadata', (seen) => seen.nodeMetadata()],
    ['variables', (seen) => seen.variable()],
    ['secrets', (seen) => seen.secret()],
  ])('may not request %s', (what, ask) => {
    expect(() => ask(context())).toThrow(
      expect.objectContaining({
        code: 'PLUG_FAILED',
        message: `plug switch declares that it reads only the message, but reads ${what}`,
      }),
    )
  })
})
