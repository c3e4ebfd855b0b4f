import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import {
  createEngine,
  type EngineEvent,
  type FiredEvent,
  type Group,
  type Rule,
  simulate,
  VirtualClock,
} from '../../../src/index.ts'
import { readText } from '../../support/repository.ts'

const need = (name: string) => JSON.parse(readText(`fixtures/needs/${name}.json`)) as Rule

async function started(rule: Rule, members: readonly string[]) {
  const clock = new VirtualClock(0)
  const asked: Group[] = []
  const ports = { members: (group: Group) => (asked.push(group), members) }
  const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1, ports })
  const events: EngineEvent[] = []
  engine.events$.subscribe((event) => events.push(event))
  const task = await engine.start(rule, { id: 'task' })
  const send = (seconds: number, resource: string, values: object): boolean => {
    clock.advanceTo(seconds * 1000)
    return engine.receive({ resource, ...values })
  }
  const fired = () => events.filter((event): event is FiredEvent => event.type === 'fired')
  const logs = () => events.flatMap((event) => (event.type === 'log' ? [`${event.level} ${event.message}`] : []))
  return { engine, task, clock, send, events, fired, logs, asked }
}

describe('a group', () => {
  it('is what the port answers, asked with the group of the rule', async () => {
    const { asked, send } = await started(need('several'), ['p1', 'p2'])
    expect(asked).toEqual([{ type: 'pump' }])
    expect([send(0, 'p1', { temperature: 1 }), send(0, 'p3', { temperature: 1 })]).toEqual([true, false])
  })

  it('without members is reported when the task starts, until one joins', async () => {
    const { logs, task, send } = await started(need('several'), [])
    expect(logs()).toEqual(['WARN the group {"type":"pump"} has no members, so that its sensors observe nothing'])
    task.changeMembers({ type: 'pump' }, { joined: ['p1'] })
    expect(send(0, 'p1', { temperature: 1 })).toBe(true)
    task.changeMembers({ type: 'pump' }, { left: ['p1'] })
    expect(send(0, 'p1', { temperature: 1 })).toBe(false)
  })

  it('of more than a million members is rejected with the limit', async () => {
    const many = Array.from({ length: 1_000_001 }, (_, i) => `p${i}`)
    await expect(started(need('several'), many)).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: expect.stringContaining('more than the limit of 1000000') as string,
    })
  })

  it('that the rule lacks is not found', async () => {
    const { task } = await started(need('several'), [])
    expect(() => task.changeMembers({ type: 'pumps' }, { joined: ['x'] })).toThrow(
      'task task has no group {"type":"pumps"}; its groups are {"type":"pump"}',
    )
  })

  it('in a simulation has the members of a list, or those of the port', async () => {
    const rule = need('two-of-three')
    const listed = {
      ...need('several'),
      sensors: need('several').sensors?.map((one) => ({ ...one, group: { resources: ['a', 'b', 'c'] } })),
    }
    const messages = ['a', 'b', 'c'].map((resource, i) => ({ resource, timestamp: i * 1000, temperature: 99 }))
    const run = await simulate(listed as Rule, { messages, plugs: builtins })
    expect(run.events.filter(({ type }) => type === 'fired')).toMatchObject([{ time: 2000, node: 'alarm' }])
    expect(rule.relations).toHaveLength(1)
    const asked = await simulate(need('several'), {
      messages,
      plugs: builtins,
      ports: { members: () => ['a', 'b', 'c'] },
    })
    expect(asked.events.filter(({ type }) => type === 'fired')).toMatchObject([{ time: 2000, node: 'alarm' }])
  })
})

describe('a relation that counts members', () => {
  it('names in why and explain how many decided it, and ten of them', async () => {
    const members = Array.from({ length: 12 }, (_, i) => `p${i}`)
    const { send, fired, task } = await started(need('several'), members)
    for (const [i, id] of members.entries()) send(i, id, { temperature: 99 })
    expect(fired().map(({ why }) => why?.gates)).toMatchObject([
      [{ node: 'several', state: 'TRUE', members: { count: 3, of: 3, first: ['p0', 'p1', 'p2'] } }],
    ])
    const { state } = task.explain('several')
    expect(state?.gates).toMatchObject([{ members: { count: 12, of: 12, first: members.slice(0, 10) } }])
  })

  it('ends when a member leaves', async () => {
    const { send, task } = await started(need('several'), ['p0', 'p1', 'p2'])
    for (const [i, id] of ['p0', 'p1', 'p2'].entries()) send(i, id, { temperature: 99 })
    expect(task.node('several').mostLikelyState?.state).toBe('TRUE')
    task.changeMembers({ type: 'pump' }, { left: ['p1'] })
    expect(task.node('several').mostLikelyState?.state).toBe('FALSE')
  })
})

describe('a trigger for each member', () => {
  it('reports members that are silent, from when they joined, and many of them at once', async () => {
    const rule = need('silent')
    const outage = { ...rule, relations: (rule.relations ?? []).map((one) => ({ ...one, atLeast: 2 })) }
    const { send, clock, fired, logs, task } = await started(outage, ['m1', 'm2'])
    send(60, 'm1', { power: 1 })
    clock.advanceTo(120_000)
    task.changeMembers({ type: 'meter' }, { joined: ['m3'] })
    clock.advanceTo(3_600_000)
    expect(fired().map(({ time, node, member }) => [time / 60_000, node, member])).toEqual([
      [10, 'alarm', 'm2'],
      [11, 'alarm', 'm1'],
      [11, 'many', undefined],
      [12, 'alarm', 'm3'],
    ])
    expect(logs().filter((line) => line.includes('is silent'))).toEqual([
      'INFO m2 is silent',
      'INFO m1 is silent',
      'INFO m3 is silent',
    ])
  })

  it('has a cool-down of its own', async () => {
    const rule: Rule = {
      sensors: [
        {
          label: 'hot',
          name: 'streamingDataSensor',
          group: { tag: 'x' },
          properties: { parameter: 't', threshold: 5 },
        },
      ],
      actuators: [{ label: 'act', name: 'log', resource: '$', properties: { message: '${node.RESOURCE}' } }],
      triggers: [
        { sourceLabel: 'hot', destinationLabel: 'act', statesTrigger: ['Above'], each: true, invocationPolicy: 60 },
      ],
      task: { type: 'reactive' },
    }
    const { send, fired, logs } = await started(rule, ['a', 'b'])
    send(0, 'a', { t: 9 })
    send(10, 'b', { t: 9 })
    send(20, 'a', { t: 9 })
    send(60, 'a', { t: 9 })
    expect(fired().map(({ time, member }) => [time / 1000, member])).toEqual([
      [0, 'a'],
      [10, 'b'],
      [60, 'a'],
    ])
    expect(logs()).toEqual(['INFO a', 'INFO b', 'INFO a'])
  })
})

describe('a change of the rule', () => {
  it('keeps the members, and counts them again in a relation that changed', async () => {
    const rule = need('several')
    const { send, engine, task } = await started(rule, ['p0', 'p1', 'p2'])
    send(0, 'p0', { temperature: 99 })
    send(1, 'p1', { temperature: 99 })
    await engine.change('task', { ...rule, relations: (rule.relations ?? []).map((one) => ({ ...one, atLeast: 2 })) })
    expect(task.node('several').mostLikelyState?.state).toBe('TRUE')
    send(2, 'p1', { temperature: 1 })
    expect(send(3, 'p2', { temperature: 1 })).toBe(true)
  })
})

describe('a node with one state per member', () => {
  it('cannot be run or pushed to', async () => {
    const { task } = await started(need('several'), ['a'])
    expect(() => task.run('hot')).toThrow('node hot of task task has one state per member of its group')
    expect(() => task.push('hot', { state: 'Above' })).toThrow('one state per member')
  })
})
