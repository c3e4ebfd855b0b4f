import { describe, expect, it } from 'vitest'
import { live } from '../../support/live-engine.ts'
import { gate, on, rule, trigger } from '../../support/rule-writing.ts'

const watched = rule({
  sensors: { a: on('switch'), b: on('band') },
  actuators: ['act'],
  relations: [gate('both', 'AND', ['a', 'On'], ['b', 'In'])],
  triggers: [trigger('a', 'act')],
  task: { name: 'boiler', resource: 'house' },
})

describe('the view of a node', () => {
  it('of a sensor that is not observed shows equal shares, and none is the most likely', async () => {
    const t = await live(watched)
    expect(t.task.node('b')).toEqual({
      node: 'b',
      kind: 'sensor',
      states: { Below: 1 / 3, In: 1 / 3, Above: 1 / 3 },
      mostLikelyState: null,
    })
  })

  it('of a sensor that is observed shows its state, data and time', async () => {
    const t = await live(watched)
    t.to(5)
    t.plugs.say('b', { state: 'In', rawData: { v: 1 } })
    t.send({})
    expect(t.task.node('b')).toEqual({
      node: 'b',
      kind: 'sensor',
      states: { Below: 0, In: 1, Above: 0 },
      mostLikelyState: { state: 'In', probability: 1 },
      rawData: { v: 1 },
      collectedTime: 5,
    })
  })

  it('of a gate shows its probability, before the first observation too', async () => {
    const t = await live(watched)
    expect(t.task.node('both').states['TRUE']).toBeCloseTo(1 / 6, 12)
    t.task.push('a', { state: 'Off' })
    expect(t.task.node('both')).toMatchObject({ kind: 'gate', mostLikelyState: { state: 'FALSE', probability: 1 } })
  })

  it('of an actuator shows its last result, and its error until it succeeds', async () => {
    const t = await live(watched)
    expect(t.task.node('act')).toEqual({ node: 'act', kind: 'actuator', states: {}, mostLikelyState: null })
    t.plugs.say('act', { message: 'sent' }, new Error('no line'), undefined)
    t.to(3)
    t.send({})
    expect(t.task.node('act')).toMatchObject({ rawData: { message: 'sent', collectedTime: 3 }, collectedTime: 3 })
    t.to(4)
    t.send({})
    expect(t.task.node('act')).toMatchObject({ error: { time: 4, message: 'no line' }, collectedTime: 3 })
    t.send({})
    expect(t.task.node('act')).not.toHaveProperty('error')
  })

  it('of a task that never ran is unknown', async () => {
    const t = await live(watched, { settings: { start: false } })
    expect(t.task.node('a').states).toEqual({ Off: 0.5, On: 0.5 })
    expect(() => t.task.save()).toThrow(expect.objectContaining({ code: 'WRONG_STATUS' }))
    expect(() => t.task.explain('act')).toThrow(expect.objectContaining({ code: 'WRONG_STATUS' }))
  })

  it('of an unknown node is rejected with the names of all nodes', async () => {
    const t = await live(watched)
    for (const label of ['x', '__proto__', 'constructor']) {
      expect(() => t.task.node(label)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
      expect(() => t.task.node(label)).toThrow(`has no node ${label}; it has a, b, both, act`)
    }
  })
})

describe('the info of a task', () => {
  it('contains configured and recorded values, and omits the rest', async () => {
    const t = await live(watched)
    const info = { id: 't', name: 'boiler', status: 'running', type: 'reactive', resource: 'house', resourceIds: ['r'] }
    expect(t.task.info()).toMatchObject({ ...info, createTime: 0, startTime: 0, invocationCount: 0 })
    for (const absent of ['lastExecutionTime', 'finishedTime', 'nextTick', 'template', 'error'])
      expect(t.task.info()).not.toHaveProperty(absent)
    t.to(9)
    t.send({})
    expect(t.task.info()).toMatchObject({ lastExecutionTime: 9, invocationCount: 1 })
  })

  it('reports when the next tick is due, and which template it came from', async () => {
    const { task: _, ...graph } = watched
    const t = await live({ ...graph, name: 'warm', taskDefaults: { type: 'periodic', frequency: 1000 } })
    t.to(1500)
    expect(t.task.info()).toMatchObject({ template: 'warm', type: 'periodic', nextTick: 2000 })
    await t.engine.stop('t')
    expect(t.task.info()).not.toHaveProperty('nextTick')
  })

  it('reports the warnings of the rule', async () => {
    const twice = rule({
      sensors: { a: on('switch') },
      actuators: ['act'],
      triggers: [trigger('a', 'act'), trigger('a', 'act')],
    })
    expect((await live(twice)).task.info().warnings).toEqual([
      expect.stringMatching(/^\/triggers\/1: .*same as trigger 0/),
    ])
    expect(
      (
        await live(rule({ sensors: { a: on('switch') }, actuators: ['act'], triggers: [trigger('a', 'act')] }))
      ).task.info().warnings,
    ).toEqual([])
  })
})

describe('two tasks of equal rules', () => {
  it('share compiled code, but no state', async () => {
    const t = await live(watched)
    const other = await t.engine.start(JSON.parse(JSON.stringify(watched)) as typeof watched, { id: 'u' })
    t.task.push('a', { state: 'On' })
    expect(other.node('a').states).toEqual({ Off: 0.5, On: 0.5 })
    expect(t.task.node('a').states).toEqual({ Off: 0, On: 1 })
  })

  it('differ by their own settings', async () => {
    const t = await live(watched)
    const other = await t.engine.start(watched, { id: 'u', resetObservations: false, name: 'second' })
    expect(other.name).toBe('second')
    t.send({ a: 'On' })
    t.send({ a: 'x' })
    expect(t.task.node('a').states).toEqual({ Off: 0.5, On: 0.5 })
    expect(other.node('a').states).toEqual({ Off: 0, On: 1 })
  })
})
