import { describe, expect, it } from 'vitest'
import { live, promisesSettled, type Live } from '../../support/live-engine.ts'
import { on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

const signals = (t: Live, node: string) => t.plugs.callsOf(node).map(({ context }) => context.signal)

describe('the signal of a call', () => {
  it.each<[string, (t: Live) => unknown]>([
    ['the time limit is over', (t) => t.to(2000)],
    ['the task is stopped', (t) => t.engine.stop('t')],
    ['the task is removed', (t) => t.engine.remove('t', { force: true })],
    ['the node is changed', (t) => t.engine.update('t', rule({ sensors: { s: on('late') } }))],
    ['the engine is closed', (t) => t.engine.close()],
  ])('is aborted when %s', async (_, act) => {
    const t = await live(rule({ sensors: { s: on('late', { timeout: 'PT2S' }) } }))
    t.send({})
    const [signal] = signals(t, 's')
    expect(signal?.aborted).toBe(false)
    await act(t)
    expect(signal?.aborted).toBe(true)
  })

  it.each<[string, (t: Live) => unknown]>([
    ['the time limit is over', (t) => t.to(2000)],
    ['the task is stopped', (t) => t.engine.stop('t')],
  ])('reports an abort even to a plug that reads the signal for the first time after %s', async (_, act) => {
    const t = await live(rule({ sensors: { s: on('late', { timeout: 'PT2S' }) } }))
    t.send({})
    await act(t)
    expect(signals(t, 's')[0]?.aborted).toBe(true)
  })

  it('of an attempt that timed out stays aborted while the next attempt runs', async () => {
    const retryConfig = { maxRetries: 1, minBackoff: 'PT1S' }
    const t = await live(rule({ sensors: { s: on('late', { timeout: 'PT2S', retryConfig }) } }))
    t.send({})
    t.to(3000)
    expect(signals(t, 's').map(({ aborted }) => aborted)).toEqual([true, false])
  })

  it('is not aborted by an answer', async () => {
    const t = await live(rule({ sensors: { s: on('late') } }))
    t.send({})
    const [signal] = signals(t, 's')
    t.plugs.settle('s', 'On')
    await promisesSettled()
    t.to(600_000)
    expect(signal?.aborted).toBe(false)
  })

  it('of a delayed result has no effect once the result is superseded', async () => {
    const t = await live(rule({ sensors: { s: 'switch', d: 'late' }, triggers: [trigger('s', 'd')] }))
    t.task.push('s', { state: 'On' })
    t.plugs.settle('d', { state: 'On', after: 5000 })
    await promisesSettled()
    t.task.push('s', { state: 'On' })
    expect(t.plugs.callsOf('d')).toHaveLength(2)
    expect(signals(t, 'd')[1]?.aborted).toBe(false)
  })
})

describe('the context of a call', () => {
  it('about its task and node', async () => {
    const t = await live(
      rule({
        sensors: { s: on('switch'), free: 'switch' },
        triggers: [trigger('s', 'free')],
        task: { resource: 'house' },
      }),
    )
    t.to(5)
    t.send({})
    const [s, free] = t.plugs.calls.map(({ context }) => ({ task: context.task, node: context.node, now: context.now }))
    expect(s).toEqual({
      task: { TASK_ID: 't', RESOURCE: 'house', NODE_NAME: 's' },
      node: { NAME: 's', RESOURCE: 'r', TRIGGER: undefined },
      now: 5,
    })
    expect(free?.node).toEqual({ NAME: 'free', RESOURCE: undefined, TRIGGER: 's' })
  })

  it('contains the time of the call, however late it is read', async () => {
    const t = await live(rule({ sensors: { s: on('switch') } }), { script: (plugs) => plugs.say('s', LATER) })
    t.send({})
    t.to(700)
    expect(t.plugs.calls[0]?.context.now).toBe(0)
  })

  it('by path reads the stream, nodes, gates, variables and the task', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), s: on('switch', { sequence: 2 }) },
        task: { variables: { limit: 3 }, resource: 'house' },
      }),
    )
    t.plugs.say('a', { state: 'On', rawData: { v: [10, 20] } })
    t.send({ x: 1 })
    const look = (path: string) => t.plugs.callsOf('s')[0]?.context.lookup(path.split('.'))
    expect(
      ['streamdata.x', 'nodes.a.state', 'nodes.a.rawData.v', 'variables.limit', 'task.TASK_ID', 'nodes.zzz.state'].map(
        look,
      ),
    ).toEqual([1, 'On', [10, 20], 3, 't', undefined])
  })

  it('can be logged, as events of the node', async () => {
    const t = await live(rule({ sensors: { s: on('switch') } }), {
      script: (plugs) =>
        plugs.say('s', (context) => {
          context.log.debug('a')
          context.log.info('b')
          context.log.warn('c')
          context.log.error('d')
          return 'On'
        }),
    })
    t.send({})
    expect(t.lines('log')).toEqual(['0 log DEBUG a', '0 log INFO b', '0 log WARN c', '0 log ERROR d'])
    expect(t.events.find((event) => event.type === 'log')).toMatchObject({ node: 's', invocation: 1 })
  })

  it('logs with the time of the task, which never decreases, while the task continues', async () => {
    const t = await live(rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act')] }), {
      script: (plugs) => plugs.say('act', LATER),
    })
    t.send({})
    const [call] = t.plugs.callsOf('act')
    t.to(1000)
    t.send({})
    call?.context.log.info('late')
    expect(t.lines('log')).toEqual(['1000 log INFO late'])
  })
})
