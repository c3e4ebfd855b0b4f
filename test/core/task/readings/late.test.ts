/** Tests readings that are late, repeated, or older than the task. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import type { CoreEngine } from '../../../../src/core/engine/engine.ts'
import type { Message } from '../../../../src/core/task/origin.ts'
import { ignoring } from '../../../../src/core/task/readings/reading.ts'
import type { Rule, Sensor, TaskSettings, Trigger } from '../../../../src/core/rule/rule.ts'
import {
  createEngine,
  VirtualClock,
  type CreateEngineOptions,
  type SavedTask,
  type Task,
} from '../../../../src/index.ts'

const MINUTE = 60_000
const T = Date.UTC(2026, 0, 1, 10)

const sensor = (label: string, name: string, properties: Record<string, unknown>, more: Partial<Sensor> = {}) => ({
  label,
  name,
  resource: '$',
  properties,
  ...more,
})
const hot = sensor('hot', 'streamingDataSensor', { parameter: 't', threshold: 10 })
const fires = (sourceLabel: string, more: Partial<Trigger>): Trigger => ({
  sourceLabel,
  destinationLabel: 'note',
  ...more,
})
const rule = (sensors: readonly Sensor[], triggers: readonly Trigger[], task: TaskSettings = {}): Rule => ({
  sensors,
  triggers,
  actuators: [{ label: 'note', name: 'log', properties: { message: 'x' } }],
  task: { type: 'reactive', ...task },
})

/** An engine at 12:00, two hours after the readings were measured. */
async function begun(tested: Rule, from = T + 120 * MINUTE, options: Partial<CreateEngineOptions> = {}) {
  const clock = new VirtualClock(from)
  const make = () => createEngine({ plugs: builtins, scheduler: clock, seed: 1, ids: () => 't', ...options })
  let engine = make()
  let task: Task = await engine.start(tested, { resource: 'r' })
  const fired: string[] = []
  const ids: string[] = []
  const listen = () =>
    engine.events$.subscribe((event) => {
      if (event.type !== 'fired') return
      fired.push(`${(event.time - T) / MINUTE} ${event.why?.trigger.to ?? ''}`)
      ids.push(event.effect)
    })
  listen()
  return {
    clock,
    fired,
    ids,
    send: (minute: number | undefined, values: Record<string, unknown>, resource = 'r') => {
      const timestamp = minute === undefined ? {} : { timestamp: T + minute * MINUTE }
      engine.receive({ resource, ...timestamp, ...values })
    },
    receive: (message: Message) => engine.receive(message),
    after: (ms: number) => clock.advanceTo(clock.now() + ms),
    counts: () => {
      const { late, duplicate, skewed } = task.info().health
      return { late, duplicate, skewed }
    },
    node: (label: string) => task.node(label),
    resync: () => task.resync(),
    explained: () => task.explain('note').readings,
    engineCounts: () => {
      const { late, duplicate, skewed } = (engine as CoreEngine).counts
      return { late, duplicate, skewed }
    },
    info: () => task.info(),
    restart: async () => {
      const saved = JSON.parse(JSON.stringify(task.save())) as SavedTask
      await engine.close()
      engine = make()
      task = await engine.restore(saved)
      listen()
    },
  }
}

describe('a repeated message', () => {
  const summed = rule(
    [sensor('sum', 'windowStats', { value: 't', statistic: 'sum', samples: 10, upperLimit: 1000 })],
    [fires('sum', {})],
  )

  it('is processed once, and counted', async () => {
    const task = await begun(summed)
    for (let i = 0; i < 3; i++) task.send(0, { t: 20 })
    expect(task.node('sum').rawData).toMatchObject({ sum: 20, count: 1 })
    expect(task.counts()).toEqual({ late: 0, duplicate: 2, skewed: 0 })
    expect(task.info().invocationCount).toBe(1)
  })

  it('is recognized after a restart, in any order of its values', async () => {
    const task = await begun(summed)
    task.send(0, { t: 20, u: { a: 1, b: [2] } })
    await task.restart()
    task.send(0, { u: { b: [2], a: 1 }, t: 20 })
    expect(task.counts()).toEqual({ late: 0, duplicate: 1, skewed: 0 })
    task.send(0, { t: 20, u: { a: 1, b: [3] } })
    expect(task.node('sum').rawData).toMatchObject({ sum: 40 })
  })

  it('does not change the ids of effects', async () => {
    const [once, again] = [await begun(summed), await begun(summed)]
    for (const minute of [0, 1, 2]) {
      once.send(minute, { t: minute })
      again.send(minute, { t: minute })
      again.send(minute, { t: minute })
      again.send(0, { t: 0 })
    }
    expect(again.ids).toEqual(once.ids)
  })

  const both = [false, true].flatMap((runs) => [false, true].map((isRestarted) => [runs, isRestarted] as const))
  it.each(both)(
    'does not restore a value that another message of the same time replaced (runs: %s, restarted: %s)',
    async (...given) => {
      const [runs, isRestarted] = given
      const hum = sensor('hum', 'condition', { condition: 'w == 4' })
      const asks: Trigger = { sourceLabel: 'hot', destinationLabel: 'hum', statesTrigger: ['Above'] }
      const task = await begun(rule([hot, hum], [asks, fires('hum', { statesTrigger: ['True'] })]))
      const send = (w: number) => task.send(1, runs ? { t: w, w } : { w })
      for (const w of [3, 4]) send(w)
      if (isRestarted) await task.restart()
      send(3)
      task.send(1.5, { t: 20 })
      expect(task.fired.at(-1)).toBe('1.5 True')
    },
  )

  it('with other values at the same time is another reading', async () => {
    const task = await begun(summed)
    task.send(0, { t: 20 })
    task.send(0, { t: 30 })
    expect(task.node('sum').rawData).toMatchObject({ sum: 50, count: 2 })
  })

  it('is another reading without a measurement time', async () => {
    const task = await begun(summed)
    task.send(undefined, { t: 20 })
    task.send(undefined, { t: 20 })
    expect(task.node('sum').rawData).toMatchObject({ sum: 40 })
    expect(task.counts()).toEqual({ late: undefined, duplicate: undefined, skewed: undefined })
  })

  it.each([
    ['drop', undefined, 20],
    ['drop', 'take', 40],
    ['take', undefined, 40],
    ['take', 'drop', 20],
  ] as const)('is handled as configured in the engine (%s) or the task (%s)', async (duplicates, own, sum) => {
    const settings = own === undefined ? {} : { duplicates: own }
    const task = await begun({ ...summed, task: { type: 'reactive', ...settings } }, undefined, { duplicates })
    task.send(0, { t: 20 })
    await task.restart()
    task.send(0, { t: 20 })
    expect(task.node('sum').rawData).toMatchObject({ sum })
  })
})

// Holds READING-1
describe('a reading that arrives after a newer one', () => {
  const watched = [fires('hot', { stateChangeTrigger: { stateFrom: 'Above', stateTo: 'Below' } })]

  it('does not become the state', async () => {
    const task = await begun(rule([hot], watched))
    task.send(0, { t: 5 })
    task.send(1, { t: 15 })
    task.send(-1, { t: 5 })
    expect(task.fired).toEqual([])
    expect(task.node('hot').mostLikelyState?.state).toBe('Above')
    expect(task.counts()).toEqual({ late: 1, duplicate: 0, skewed: 0 })
  })

  it('is processed if the task is configured so, at the time of the task', async () => {
    const task = await begun(rule([hot], watched, { late: 'take' }))
    task.send(1, { t: 15 })
    task.send(-1, { t: 5 })
    expect(task.fired).toEqual(['1 Below'])
  })

  it('is not late for a task that uses arrival times', async () => {
    const task = await begun(rule([hot], watched, { time: 'arrival' }))
    task.send(1, { t: 15 })
    task.send(-1, { t: 5 })
    expect(task.fired).toEqual(['120 Below'])
  })

  it('is late only for its own sensor', async () => {
    const wet = sensor('wet', 'streamingDataSensor', { parameter: 'u', threshold: 10 })
    const task = await begun(rule([hot, wet], [fires('wet', { statesTrigger: ['Above'] })]))
    task.send(2, { t: 5 })
    task.send(1, { u: 15 })
    expect(task.fired).toEqual(['2 Above'])
    expect(task.counts()).toEqual({ late: 0, duplicate: 0, skewed: 1 })
  })

  it('replaces no newer value, and adds missing ones', async () => {
    const both = sensor('both', 'condition', { condition: 't > 10 && u > 10 && w > 0' })
    const task = await begun(rule([both], [fires('both', { statesTrigger: ['True'] })]))
    task.send(2, { t: 15, w: 1 })
    task.send(1.5, { t: 5, u: 20 })
    expect(task.fired).toEqual([])
    task.send(2.1, { w: 2 })
    expect(task.fired).toEqual(['2.1 True'])
  })

  it('is logged after ten in succession', async () => {
    const clock = new VirtualClock(T)
    const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1 })
    const logs: string[] = []
    engine.events$.subscribe((event) => event.type === 'log' && logs.push(event.message))
    await engine.start(rule([hot], []), { resource: 'r' })
    engine.receive({ resource: 'r', timestamp: T, t: 1 })
    for (let i = 1; i <= 12; i++) engine.receive({ resource: 'r', timestamp: T - 3_600_000 + i, t: i })
    expect(logs).toHaveLength(1)
    expect(logs[0]).toContain('the clock of r may have been set back by 3599.99 s')
    await engine.close()
  })
})

describe('a reading that is repeated after newer ones', () => {
  const counted = sensor('counted', 'windowStats', { value: 't', statistic: 'sum', samples: 99, upperLimit: 1000 })
  const cases = [
    { late: 'take' },
    { time: 'arrival' },
    { late: { reorder: '10ms', then: 'take' } },
    { duplicates: 'take', late: 'take' },
  ] as const
  const all = cases.flatMap((settings) => [false, true].map((isRestarted) => [settings, isRestarted] as const))

  // Holds RECENT-1
  it.each(all)('is recognized if late readings are accepted (%j, restarted: %s)', async (settings, isRestarted) => {
    const task = await begun(rule([counted, hot], [fires('counted', {})], settings))
    for (const minute of [1, 3, 2]) {
      task.send(minute, { t: minute })
      task.after(3 * MINUTE)
    }
    if (isRestarted) await task.restart()
    for (const minute of [2, 1, 3]) task.send(minute, { t: minute })
    const known = 'duplicates' in settings ? 0 : 3
    const seen = () => [task.counts().duplicate, task.engineCounts().duplicate, task.info().invocationCount]
    expect(seen()).toEqual([known, known, 6 - known])
    // The first one was processed more than ten minutes ago, so it counts as a late reading again.
    task.after(2 * MINUTE)
    task.send(1, { t: 1 })
    expect(seen()).toEqual([known, known, 7 - known])
  })

  it('is recognized among the last thousand of its resource', async () => {
    const task = await begun(rule([counted, { ...hot, resource: 's' }], [], { late: 'take' }))
    for (let i = 1; i <= 1001; i++) task.send(i, { t: 1 })
    task.send(2, { t: 1 })
    task.send(1, { t: 1 }, 's')
    expect(task.counts()).toMatchObject({ duplicate: 1 })
    task.send(1, { t: 1 })
    expect(task.counts()).toMatchObject({ duplicate: 1, skewed: 2 })
  })

  it.each([false, true])('is another reading beyond the remembered number (restarted: %s)', async (isRestarted) => {
    const other = { ...hot, label: 'other', resource: 's' }
    const task = await begun(rule([hot, other], [], { late: 'take' }), undefined, { maxRemembered: 20 })
    for (let i = 1; i <= 12; i++) {
      task.send(i, { t: i }, i > 8 ? 'r' : 's')
      task.after(MINUTE / 2)
    }
    if (isRestarted) await task.restart()
    task.send(12, { t: 12 })
    task.send(8, { t: 8 }, 's')
    expect(task.counts()).toMatchObject({ duplicate: 2 })
    expect(task.info().health.forgotten).toBeUndefined()
    for (let i = 13; i <= 21; i++) task.send(i, { t: i })
    expect(task.info().health.forgotten).toBeGreaterThan(0)
    task.send(7, { t: 7 }, 's')
    task.send(21, { t: 21 })
    expect(task.counts()).toMatchObject({ duplicate: 3, skewed: 1 })
  })

  it('is another reading after a resync of the task', async () => {
    const task = await begun(rule([counted], [], { late: 'take' }))
    for (const minute of [1, 2]) task.send(minute, { t: 1 })
    task.resync()
    task.send(1, { t: 1 })
    expect(task.counts()).toEqual({ late: 0, duplicate: 0, skewed: 1 })
  })
})

describe('ignored keys', () => {
  it.each([{}, { late: 'take' }, { late: { reorder: '30s' } }] as const)('can be all keys (%j)', async (settings) => {
    const task = await begun(rule([hot], [fires('hot', {})], settings))
    for (let i = 0; i < 2; i++) {
      const message = { resource: 'r', timestamp: T, t: 15 }
      ignoring(message, 'all')
      task.receive(message)
      await task.restart()
    }
    for (let i = 0; i < 2; i++) task.send(0, { t: 15 })
    expect(task.counts()).toEqual({ late: 0, duplicate: 1, skewed: 0 })
  })

  it('are ignored in a waiting message across a restart', async () => {
    const task = await begun(rule([hot], [fires('hot', {})], { late: { reorder: '30s' } }))
    for (const receivedAt of [1, 2]) {
      const message = { resource: 'r', timestamp: T, t: 15, receivedAt }
      ignoring(message, ['receivedAt'])
      task.receive(message)
      await task.restart()
    }
    expect(task.counts()).toMatchObject({ duplicate: 1 })
  })

  const tasks: TaskSettings[] = [{}, { late: { reorder: '30s' } }]
  const cases = tasks.flatMap((settings) => [false, true].map((isRestarted) => [settings, isRestarted] as const))
  it.each(cases)('keep a message a duplicate (%j, restarted: %s)', async (settings, isRestarted) => {
    const tested = rule([hot], [fires('hot', {})], settings)
    for (const [ignores, duplicate] of [
      [['receivedAt'], 1],
      [[], 0],
    ] as const) {
      const task = await begun(tested, undefined, { identityIgnores: ignores })
      task.send(0, { t: 15, receivedAt: 1 })
      if (isRestarted) await task.restart()
      task.send(0, { t: 15, receivedAt: 2 })
      expect(task.counts()).toMatchObject({ duplicate })
    }
  })
})

describe('a reading out of order', () => {
  it('is counted for its task, in its explanations, and for the whole engine', async () => {
    const task = await begun(rule([hot, { ...hot, label: 'other', resource: 's' }], [fires('hot', {})]))
    task.send(2, { t: 15 })
    expect(task.explained()).toBeUndefined()
    task.send(2, { t: 15 })
    task.send(1, { t: 15 })
    task.send(1, { t: 15 }, 's')
    const counts = { late: 1, duplicate: 1, skewed: 1 }
    expect([task.counts(), task.explained(), task.engineCounts()]).toEqual([counts, counts, counts])
  })

  it.each([false, true])('is accepted once the task is resynced (restarted: %s)', async (isRestarted) => {
    const task = await begun(rule([hot], [fires('hot', {})]))
    task.send(60, { t: 15 })
    task.send(1, { t: 5 })
    task.resync()
    if (isRestarted) await task.restart()
    task.send(1, { t: 5 })
    task.send(0, { t: 5 })
    task.send(1, { t: 5 })
    expect(task.fired).toEqual(['60 Above', '60 Below'])
    expect(task.counts()).toEqual({ late: 2, duplicate: 1, skewed: 1 })
  })

  it('causes one warning when messages of its resource have no timestamp', async () => {
    const clock = new VirtualClock(T)
    const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1 })
    const logs: string[] = []
    engine.events$.subscribe((event) => event.type === 'log' && logs.push(event.message))
    await engine.start(rule([hot], []), { resource: 'r' })
    for (let i = 1; i <= 3; i++) {
      engine.receive({ resource: 'r', timestamp: T - 10 + i, t: i })
      engine.receive({ resource: 'r', t: i })
    }
    expect(logs).toEqual([expect.stringContaining('messages of r arrive both with and without a timestamp')])
    await engine.close()
  })
})

describe('the time of a task is that of its readings', () => {
  it('when they arrive two hours late in one burst', async () => {
    const holds = sensor('long', 'holdsFor', { condition: 't > 10', duration: '5m' })
    const triggers = [
      fires('long', { statesTrigger: ['Holds'], invocationPolicy: 100_000 }),
      { ...fires('hot', { statesTrigger: ['Above'], invocationPolicy: 600 }), destinationLabel: 'ten' },
    ]
    const tested = rule([hot, holds], triggers)
    const ten = { label: 'ten', name: 'log', properties: { message: 'x' } }
    const task = await begun({ ...tested, actuators: [...(tested.actuators ?? []), ten] })
    for (let minute = 0; minute < 40; minute++) task.send(minute, { t: 15 })
    expect(task.fired).toEqual(['0 Above', '5 Holds', '10 Above', '20 Above', '30 Above'])
    expect(task.counts()).toEqual({ late: 0, duplicate: 0, skewed: 0 })
  })

  const silence = rule(
    [sensor('quiet', 'noDataFor', { duration: '60s' })],
    [fires('quiet', { statesTrigger: ['No Data'] }), fires('quiet', { statesTrigger: ['Data'] })],
  )

  it('and a silence between two readings is found when the second arrives', async () => {
    const task = await begun(silence)
    task.send(0, { t: 1 })
    task.after(10)
    task.send(5, { t: 1 })
    expect(task.fired).toEqual(['0 Data', '1 No Data', '5 Data'])
  })

  it('and a silence after the last reading is found when the clock has advanced that far', async () => {
    const task = await begun(silence)
    task.send(0, { t: 1 })
    task.after(MINUTE - 1)
    expect(task.fired).toEqual(['0 Data'])
    task.after(1)
    expect(task.fired).toEqual(['0 Data', '1 No Data'])
  })

  it('across a restart', async () => {
    const task = await begun(silence)
    task.send(0, { t: 1 })
    await task.restart()
    task.after(MINUTE - 1)
    await task.restart()
    expect(task.fired).toEqual(['0 Data'])
    task.after(1)
    expect(task.fired).toEqual(['0 Data', '1 No Data'])
  })

  it('and an observation expires relative to its own time', async () => {
    const tested = rule([{ ...hot, evictionTime: 30_000 }], [fires('hot', { statesTrigger: ['Above'] })])
    const task = await begun(tested)
    task.send(0, { t: 15 })
    task.after(29_999)
    expect(task.node('hot').mostLikelyState?.state).toBe('Above')
    task.after(1)
    expect(Object.values(task.node('hot').states)).not.toContain(1)
  })
})

// Holds IDLE-1, IDLE-2
describe('a message that runs nothing', () => {
  const dry = sensor('dry', 'condition', { condition: 'u == 0' }, { resource: 's' })
  const quiet = sensor('quiet', 'noDataFor', { duration: '60s' })
  const asked = rule(
    [quiet, dry],
    [
      { sourceLabel: 'quiet', destinationLabel: 'dry', statesTrigger: ['No Data'] },
      fires('dry', { statesTrigger: ['True'] }),
    ],
  )
  const r = (minute: number) => [minute, 'r'] as const
  const s = (minute: number) => [minute, 's'] as const

  it.each([
    ['is there for a timer of a later time', [r(0), s(0.5)], ['1 True'], 0],
    ['does not exist for a timer of its time or before', [r(0), s(1), s(2), s(1.5)], [], 0],
    ['is there for the next reading', [r(0), s(2), r(1.5)], ['2.5 True'], 0],
    ['counts when it comes behind the time of the task', [r(0), r(0.2), s(0.1)], [], 1],
    ['counts when it is there for an earlier reading', [s(0.5), r(0)], ['1 True'], 1],
  ] as const)('%s', async (_, sent, fired, skewed) => {
    for (const isRestarted of [false, true]) {
      const task = await begun(asked)
      for (const [minute, resource] of sent) task.send(minute, resource === 's' ? { u: 0 } : { t: 1 }, resource)
      if (isRestarted) await task.restart()
      task.after(2 * MINUTE)
      expect(task.fired.filter((one) => one.endsWith('True'))).toEqual(fired)
      expect(task.counts()).toEqual({ late: 0, duplicate: 0, skewed })
    }
  })
})

describe('readings that are put in order', () => {
  it('precede a later timer, even behind a message that runs nothing', async () => {
    const task: TaskSettings = { type: 'periodic', frequency: 2.3 * MINUTE, late: { reorder: '2m' } }
    const kept = { ...hot, evictionTime: MINUTE }
    const begins = await begun(rule([kept], [fires('hot', { statesTrigger: ['Below'] })], task), T)
    for (const [minute, wait, values] of [
      [2, 2, { t: 1 }],
      [3, 1, { other: 1 }],
      [3.05, 0.05, { t: 1 }],
      [3.1, 0.35, { t: 1 }],
    ] as const) {
      begins.after(wait * MINUTE)
      begins.send(minute, values)
    }
    // The eviction of the value at the tick at 2.3 applies with the reading of 3.
    begins.after(1.9 * MINUTE)
    expect(begins.fired).toEqual(['2 Below', '2.3 Below', '3.05 Below', '3.1 Below'])
    expect(begins.counts()).toMatchObject({ late: 0, skewed: 0 })
  })
})
