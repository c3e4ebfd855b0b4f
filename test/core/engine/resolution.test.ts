import { describe, expect, it } from 'vitest'
import type { Ports } from '../../../src/core/ports.ts'
import type { Rule, Sensor, TaskSettings, Template } from '../../../src/core/rule/rule.ts'
import { live, promisesSettled, type LiveOptions } from '../../support/live-engine.ts'
import { on, rule } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

const bound = (resource: string, task: TaskSettings = {}): Rule =>
  rule({ sensors: { s: { name: 'switch', resource } }, task })

const house = { sensor: 'thermo-1', nested: { deep: 'thermo-2' }, link: { $ref: '/resources/thermo-3' } }
const ways: Readonly<Record<string, NonNullable<Ports['metadata']>>> = {
  'a value': (resource) => (resource === 'house' ? house : undefined),
  'a promise': async (resource) => (resource === 'house' ? house : undefined),
}

describe.each(Object.entries(ways))('with metadata as %s', (_, metadata) => {
  it.each<[string, TaskSettings, string]>([
    ['thermo-9', {}, 'thermo-9'],
    ['$', { resource: 'house' }, 'house'],
    ['$taskId', {}, 't'],
    ['$which', { variables: { which: 'thermo-4' } }, 'thermo-4'],
    ['META.$.sensor', { resource: 'house' }, 'thermo-1'],
    ['META.$.nested.deep', { resource: 'house' }, 'thermo-2'],
    ['META.$.link', { resource: 'house' }, 'thermo-3'],
    ['${task.resource.meta.sensor}-b', { resource: 'house' }, 'thermo-1-b'],
    ['${variables.which}', { variables: { which: 'thermo-5' } }, 'thermo-5'],
  ])('the resource %s with %o is %s', async (resource, task, expected) => {
    const t = await live(bound(resource, task), { ports: { metadata } })
    expect(t.task.info().resourceIds).toEqual([expected])
    expect(t.send({}, expected)).toBe(true)
    expect(t.plugs.callsOf('s')).toHaveLength(1)
    expect(t.plugs.calls[0]?.context.node.RESOURCE).toBe(expected)
  })

  it.each<[string, TaskSettings]>([
    ['META.$.nothing', { resource: 'house' }],
    ['META.$.sensor', { resource: 'elsewhere' }],
  ])('the resource %s with %o cannot be resolved', async (resource, task) => {
    await expect(live(bound(resource, task), { ports: { metadata } })).rejects.toMatchObject({ code: 'RESOLUTION' })
  })
})

describe('two resource texts', () => {
  const both = rule({
    sensors: { a: { name: 'switch', resource: '$' }, b: { name: 'switch', resource: 'house' }, c: on('switch') },
    task: { resource: 'house' },
  })

  it('that mean one resource run for one message, in one invocation', async () => {
    const t = await live(both)
    expect(t.task.info().resourceIds).toEqual(['house', 'r'])
    t.send({ v: 1 }, 'house')
    expect(t.plugs.calls.map(({ node }) => node)).toEqual(['a', 'b'])
    expect(t.task.info().invocationCount).toBe(1)
    t.send({ v: 2 })
    expect(t.plugs.calls.map(({ node, stream }) => `${node} ${String(stream['v'])}`).at(-1)).toBe('c 2')
  })

  it('share the values of its stream', async () => {
    const t = await live(both)
    t.send({ v: 1 }, 'house')
    t.task.run('b')
    expect(t.plugs.callsOf('b').at(-1)?.stream).toEqual({ resource: 'house', v: 1 })
  })
})

describe('the values that a property can read', () => {
  /** The property `value` as the plug got it, or the error of the call. */
  async function read(text: string, options: LiveOptions & { task?: TaskSettings; sensor?: Partial<Sensor> } = {}) {
    const { task = {}, sensor = {}, ...engine } = options
    const node = { ...on('switch'), properties: { value: text }, ...sensor }
    const t = await live(rule({ sensors: { s: node }, task }), engine)
    t.send({ v: 5 })
    await promisesSettled()
    const call = t.plugs.calls[0]
    if (call !== undefined) return call.properties['value']
    const result = t.events.find((event) => event.type === 'result')
    return result?.error
  }

  it.each<[string, LiveOptions & { task?: TaskSettings }, unknown]>([
    ['${streamdata.v}', {}, 5],
    ['${task.TASK_ID}', {}, 't'],
    ['${variables.limit}', { task: { variables: { limit: 7 } } }, 7],
    ['${task.resource.meta.sensor}', { task: { resource: 'house' }, ports: { metadata: () => house } }, 'thermo-1'],
    [
      '${task.resource.meta.sensor}',
      { task: { resource: 'house' }, ports: { metadata: async () => house } },
      'thermo-1',
    ],
    [
      '${node.resource.meta.sensor}',
      { ports: { metadata: (resource) => (resource === 'r' ? { sensor: 'own' } : {}) } },
      'own',
    ],
    ['META.$.sensor', { task: { resource: 'house' }, ports: { metadata: (resource) => ({ sensor: resource }) } }, 'r'],
    ['${vault.KEY}', { ports: { secret: (key) => `secret of ${key}` } }, 'secret of KEY'],
    ['${vault.KEY}', { ports: { secret: async (key) => `secret of ${key}` } }, 'secret of KEY'],
  ])('%s', async (text, options, expected) => {
    expect(await read(text, options)).toEqual(expected)
  })

  it.each<[string, LiveOptions]>([
    ['${vault.KEY}', {}],
    ['${vault.KEY}', { ports: { secret: () => undefined } }],
    ['${vault.KEY}', { ports: { secret: () => Promise.reject(new Error('the vault is shut')) } }],
    [
      '${vault.KEY}',
      {
        ports: {
          secret: () => {
            throw new Error('the vault is shut')
          },
        },
      },
    ],
    ['${streamdata.nothing}', {}],
  ])('%s that is unavailable is an error of the execution, and the plug is not called', async (text, options) => {
    expect(await read(text, options)).toEqual(expect.any(String))
    expect(String(await read(text, options))).toMatch(/vault|streamdata/)
  })

  it('includes the settings that the host passes to all plugs', async () => {
    const t = await live(rule({ sensors: { s: on('switch') } }), { globalSettings: { unit: 'C' } })
    t.send({})
    expect(t.plugs.calls[0]?.context.globalSettings).toEqual({ unit: 'C' })
  })
})

describe('output of a plug with a secret', () => {
  const SECRET = 'sesame-7411'
  const node = { ...on('switch'), properties: { value: '${vault.KEY}' } }
  const answer = {
    state: 'On',
    message: `with ${SECRET}`,
    rawData: { text: SECRET, [SECRET]: [`in ${SECRET}`, 5] },
    internalState: { last: { text: SECRET } },
  }

  it.each<[string, NonNullable<Ports['secret']>]>([
    ['at once', () => SECRET],
    ['later', async () => SECRET],
  ])('does not contain the secret in results, logs and state: %s', async (_, secret) => {
    for (const given of [() => answer, async () => answer, () => Promise.reject(new Error(`no ${SECRET}`))]) {
      const t = await live(rule({ sensors: { s: node } }), { ports: { secret } })
      t.plugs.say('s', (context) => {
        context.log.warn(`logs ${SECRET}`)
        return given()
      })
      t.send({ v: 5 })
      await promisesSettled()
      expect(t.plugs.calls[0]?.properties['value']).toBe(SECRET)
      expect(t.events.map(({ type }) => type)).toContain('result')
      const stored = JSON.stringify([t.events, t.task.node('s'), t.task.save()])
      expect(stored).toContain('***')
      expect(stored).not.toContain(SECRET)
    }
  })

  it('contains the secret in items of a loop only by name', async () => {
    const loopDef = '[{"id": "${vault.KEY}"}]'
    const sensor = { ...on('switch'), properties: { value: '${loop.id}' }, loopDef }
    const t = await live(rule({ sensors: { s: sensor } }), { ports: { secret: () => SECRET } })
    t.plugs.say('s', LATER)
    t.send({ v: 5 })
    await promisesSettled()
    expect(t.plugs.calls[0]?.properties['value']).toBe(SECRET)
    expect(JSON.stringify(t.task.save())).not.toContain(SECRET)
  })
})

describe('variables of a template that data can replace', () => {
  const template = (flag: 'overrideByStream' | 'overrideByData'): Template => ({
    name: 'threshold',
    sensors: [{ label: 's', ...on('switch'), properties: { value: '${variables.limit}' } }],
    variables: [{ name: 'limit', type: 'integer', defaultValue: 10, [flag]: true }],
    taskDefaults: { type: 'reactive' },
  })
  async function limits(flag: 'overrideByStream' | 'overrideByData', messages: readonly object[], ports: Ports = {}) {
    const t = await live(template(flag), { ports })
    for (const message of messages) {
      t.send({ ...message })
      await promisesSettled()
    }
    return t.plugs.calls.map(({ properties }) => properties['value'])
  }

  it('by the stream: its value wins while it is valid', async () => {
    expect(await limits('overrideByStream', [{}, { limit: 20 }, {}])).toEqual([10, 20, 20])
  })

  it("by stored data: the last value of the metric on the node's resource wins", async () => {
    const asked: string[] = []
    const latestValue = (resource: string, metric: string) => {
      asked.push(`${resource} ${metric}`)
      return Promise.resolve(30)
    }
    expect(await limits('overrideByData', [{ limit: 20 }], { latestValue })).toEqual([30])
    expect(asked).toEqual(['r limit'])
  })

  it('by stored data only if declared: other variables are not looked up', async () => {
    const latestValue = () => 30
    expect(await limits('overrideByStream', [{}], { latestValue })).toEqual([10])
  })

  it('by stored data: without a stored value the default stays', async () => {
    expect(await limits('overrideByData', [{}], { latestValue: () => undefined })).toEqual([10])
    expect(await limits('overrideByData', [{}])).toEqual([10])
  })
})
