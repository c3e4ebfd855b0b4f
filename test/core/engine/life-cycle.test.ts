import { describe, expect, it } from 'vitest'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { Rule, TaskSettings } from '../../../src/core/rule/rule.ts'
import { VirtualClock } from '../../../src/index.ts'
import { messageOf } from '../../../src/kernel/errors.ts'
import { live, liveEngine, promisesSettled } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const simple = (task: TaskSettings = {}): Rule =>
  rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))], task })

describe('starting', () => {
  it('a rule returns a running task with the id of the engine, its start time and its resources', async () => {
    const t = await live(simple({ name: 'boiler' }))
    expect(t.task).toMatchObject({ id: 't', name: 'boiler', status: 'running' })
    expect(t.task.info()).toMatchObject({ type: 'reactive', resourceIds: ['r'], createTime: 0, startTime: 0 })
    expect(t.lines()).toEqual(['0 started 1'])
    expect([...t.engine.tasks.keys()]).toEqual(['t'])
  })

  it('a rule under a chosen id works once', async () => {
    const { engine } = liveEngine()
    await engine.start(simple(), { id: 'mine' })
    expect(engine.tasks.has('mine')).toBe(true)
    await expect(engine.start(simple(), { id: 'mine' })).rejects.toMatchObject({
      code: 'VALIDATION',
      message: 'task mine already exists; choose another id',
    })
  })

  it('a rule with start false creates a stopped task', async () => {
    const t = await live(simple({ start: false }))
    expect(t.task.status).toBe('stopped')
    expect(t.lines()).toEqual([])
    expect(t.send({ s: 'On' })).toBe(false)
    await t.engine.start('t')
    expect(t.task.status).toBe('running')
    expect(t.send({ s: 'On' })).toBe(true)
  })
})

describe('stopping', () => {
  it('drops what is in flight and all timers, and reports it', async () => {
    const t = await live(
      rule({
        sensors: {
          held: on('switch'),
          slow: on('late'),
          gone: on('switch', { evictionTime: 50 }),
          p: { name: 'switch', pollingPeriod: 10 },
        },
        task: { type: 'periodic', frequency: 20 },
      }),
      { script: (plugs) => plugs.say('held', { state: 'On', after: 30 }) },
    )
    t.send({ gone: 'On' })
    t.to(5)
    await t.engine.stop('t')
    t.clear()
    t.plugs.settle('slow', 'On')
    await t.wait(10_000)
    expect(t.events).toEqual([])
    expect(t.clock.nextAt()).toBeUndefined()
    expect(t.task.info()).toMatchObject({ status: 'stopped', finishedTime: 5 })
  })

  it('drops the messages that wait; task and engine count them', async () => {
    const clock = new VirtualClock(0)
    const engine = new CoreEngine({ plugs: new ScriptedPlugs().plugs, scheduler: clock, ids: () => 't', seed: 1 })
    const task = await engine.start(rule({ sensors: { s: on('late') } }))
    for (let i = 0; i < 5; i++) engine.receive({ resource: 'r' })
    await engine.stop('t')
    expect([task.info().health.dropped, engine.counts.dropped]).toEqual([4, 4])
    expect([engine.waitingMessages, engine.openCalls]).toEqual([0, 0])
  })
})

describe('operations that a status does not allow', () => {
  const actions = {
    start: (t: Awaited<ReturnType<typeof live>>) => t.engine.start('t'),
    stop: (t: Awaited<ReturnType<typeof live>>) => t.engine.stop('t'),
    remove: (t: Awaited<ReturnType<typeof live>>) => t.engine.remove('t'),
  }
  it.each<[keyof typeof actions, TaskSettings, string]>([
    ['start', {}, 'Not possible to apply action start, for the task in status running'],
    ['stop', { start: false }, 'Not possible to apply action stop, for the task in status stopped'],
    ['remove', {}, 'Not possible to remove task in status running'],
  ])('%s is rejected', async (action, task, text) => {
    const t = await live(simple(task))
    const status = t.task.status
    const refusal = await actions[action](t).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ code: 'WRONG_STATUS', message: expect.stringContaining(text) as string })
    expect(t.task.status).toBe(status)
  })

  it.each(['start', 'stop', 'remove', 'update', 'explain'] as const)(
    '%s of an unknown task is rejected',
    async (action) => {
      const { engine } = liveEngine()
      const attempts = {
        start: () => engine.start('x'),
        stop: () => engine.stop('x'),
        remove: () => engine.remove('x'),
        update: () => engine.update('x', simple()),
        explain: async () => engine.explain('x', 's'),
      }
      await expect(attempts[action]()).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'Task with id x not found' })
    },
  )

  it('two starts at once: one of them is rejected', async () => {
    const t = await live(simple({ start: false }))
    const outcomes = await Promise.allSettled([t.engine.start('t'), t.engine.start('t')])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(t.lines('started')).toEqual(['0 started 1'])
    expect(t.task.status).toBe('running')
  })
})

describe('removing', () => {
  it('a stopped task deletes it', async () => {
    const t = await live(simple())
    await t.engine.stop('t')
    await t.engine.remove('t')
    expect(t.engine.tasks.size).toBe(0)
    expect(t.send({ s: 'On' })).toBe(false)
  })

  it('a running task by force stops it first', async () => {
    const t = await live(simple({ type: 'periodic', frequency: 10 }))
    await t.engine.remove('t', { force: true })
    expect(t.lines('stopped')).toEqual(['0 stopped stopped'])
    expect(t.engine.tasks.size).toBe(0)
    expect(t.clock.nextAt()).toBeUndefined()
  })

  it('a task during its start prevents the start', async () => {
    let answer: (metadata: Record<string, unknown>) => void = () => undefined
    const metadata = () => new Promise<Record<string, unknown>>((resolve) => (answer = resolve))
    const base = liveEngine({ ports: { metadata } })
    const task = rule({ sensors: { s: { name: 'switch', resource: 'META.$.sensor' } }, task: { resource: 'house' } })
    const starting = base.engine.start(task, { id: 'x' }).catch((error: unknown) => error)
    await promisesSettled()
    await base.engine.remove('x')
    answer({ sensor: 'r' })
    await starting
    expect(base.engine.receive({ resource: 'r' })).toBe(false)
    expect(base.events.filter(({ type }) => type === 'started')).toEqual([])
  })
})

describe('updating', () => {
  const other = rule({ sensors: { other: on('switch', { resource: 'q' }) } })

  it('a running task continues it with the new rule, under the same id and in the same run', async () => {
    const t = await live(simple())
    t.send({ s: 'On' })
    const updated = await t.engine.update('t', other)
    expect(updated).toBe(t.engine.tasks.get('t'))
    expect(t.lines('started', 'stopped')).toEqual(['0 started 1'])
    expect(t.send({})).toBe(false)
    expect(t.send({}, 'q')).toBe(true)
    expect(updated.info()).toMatchObject({ createTime: 0, resourceIds: ['q'], invocationCount: 2 })
    expect(() => updated.node('s')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })

  it.each<[string, TaskSettings, TaskSettings, string]>([
    ['a stopped task leaves it stopped', { start: false }, {}, 'stopped'],
    ['a stopped task starts it if requested', { start: false }, { start: true }, 'running'],
    ['a running task stops it if requested', {}, { start: false }, 'stopped'],
  ])('%s', async (_, before, settings, expected) => {
    const t = await live(simple(before))
    await t.engine.update('t', other, settings)
    expect(t.task.status).toBe(expected)
  })

  it('with an invalid rule changes nothing', async () => {
    const t = await live(simple())
    const wrong = rule({ sensors: { x: 'nothing', y: 'nobody' } })
    const refusal: unknown = await t.engine.update('t', wrong).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'VALIDATION' })
    expect(messageOf(refusal)).toMatch(/^the rule has 2 problems:/)
    expect(t.task.status).toBe('running')
    expect(t.send({ s: 'On' })).toBe(true)
  })
})

describe('a start that fails', () => {
  it.each<[string, Rule, string]>([
    ['a rule that is not valid', rule({ sensors: { s: 'nothing' } }), 'VALIDATION'],
    [
      'a resource that cannot be resolved',
      rule({ sensors: { s: { name: 'switch', resource: 'META.$.x' } }, task: { resource: 'h' } }),
      'RESOLUTION',
    ],
  ])('for %s leaves no task', async (_, wrong, code) => {
    const { engine, events } = liveEngine()
    await expect(engine.start(wrong)).rejects.toMatchObject({ code })
    expect(engine.tasks.size).toBe(0)
    expect(events).toEqual([])
  })

  it('sets an existing task to failed, with an event; a later start can succeed', async () => {
    let known: Record<string, unknown> | undefined = { sensor: 'r' }
    const t = await live(
      rule({ sensors: { s: { name: 'switch', resource: 'META.$.sensor' } }, task: { resource: 'house' } }),
      { ports: { metadata: () => known } },
    )
    await t.engine.stop('t')
    known = undefined
    await expect(t.engine.start('t')).rejects.toMatchObject({ code: 'RESOLUTION' })
    expect(t.task.status).toBe('failed')
    expect(t.task.info().error).toContain('META.$.sensor')
    expect(t.lines('failed')).toEqual([`0 failed ${t.task.info().error}`])
    expect(t.send({})).toBe(false)
    await expect(t.engine.stop('t')).rejects.toMatchObject({ code: 'WRONG_STATUS' })
    known = { sensor: 'r' }
    await t.engine.start('t')
    expect(t.task.status).toBe('running')
    expect(t.task.info()).not.toHaveProperty('error')
  })

  it('does not fail a running task on update: it continues with its previous rule', async () => {
    const t = await live(simple({ resource: 'house' }), { ports: { metadata: () => undefined } })
    const unresolved = rule({ sensors: { s: { name: 'switch', resource: 'META.$.x' } }, task: { resource: 'house' } })
    await expect(t.engine.update('t', unresolved)).rejects.toMatchObject({ code: 'RESOLUTION' })
    expect(t.task.status).toBe('running')
    expect(t.lines('stopped', 'failed')).toEqual([])
    expect(t.send({ s: 'On' })).toBe(true)
  })
})

describe('closing', () => {
  it('ends everything without stopped events, and completes the event stream', async () => {
    const t = await live(simple({ type: 'periodic', frequency: 10 }))
    let completed = false
    t.engine.events$.subscribe({ complete: () => (completed = true) })
    await t.engine.close()
    t.clear()
    t.to(1000)
    expect(t.events).toEqual([])
    expect(completed).toBe(true)
    expect(t.engine.tasks.size).toBe(0)
    expect(t.clock.nextAt()).toBeUndefined()
    expect(() => t.send({ s: 'On' })).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    expect(t.plugs.calls).toHaveLength(1)
  })

  it('aborts the signals of running plugs', async () => {
    const t = await live(rule({ sensors: { s: on('late') } }))
    t.send({})
    const { signal } = t.plugs.calls[0]?.context ?? {}
    expect(signal?.aborted).toBe(false)
    await t.engine.close()
    expect(signal?.aborted).toBe(true)
  })
})
