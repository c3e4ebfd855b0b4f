/** Tests each promise of the runner separately. */
import { describe, expect, it } from 'vitest'
import { definePlug, type Rule, type TaskSettings } from '../../../../src/index.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import { DELIVERIES, STATES } from '../../../../src/services/rules/durable/records.ts'
import type { Store } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { Ground, Life, runnableOf, TENANT } from './support/lives.ts'
import { withCommit } from './support/slow-store.ts'

const HOUR = 3_600_000

const CALLS: Rule = {
  sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$' }],
  actuators: [
    {
      label: 'send',
      name: 'send',
      version: '1.0.0',
      retryConfig: { maxRetries: 1, minBackoff: 'PT10S', maxBackoff: 'PT10S' },
    },
  ],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'] }],
  task: { type: 'reactive' },
}
const EVICTS: Rule = {
  sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$', evictionTime: 60_000 }],
  task: { type: 'reactive' },
}
const ONCE: Rule = { sensors: [{ label: 'count', name: 'count', version: '1.0.0' }], task: { type: 'onetime' } }
const HOURLY: Rule = {
  sensors: [{ label: 'count', name: 'count', version: '1.0.0' }],
  task: { type: 'periodic', frequency: HOUR },
}
const watch = (source: Rule, settings: TaskSettings = {}, epoch = 1) =>
  runnableOf('a', source, { resource: 'boiler', ...settings }, epoch)

async function begun(ground: Ground, rule: Rule, settings: TaskSettings = {}): Promise<Life> {
  const life = ground.open()
  await life.begin(watch(rule, settings))
  await life.rest()
  return life
}

/** Runs a task over a store whose commits fail while a failure is set. */
async function withFate(outside = new Ground().outside, options: ConstructorParameters<typeof Life>[2] = {}) {
  const fate: { failure: AppError | undefined } = { failure: undefined }
  const storage = openMemory()
  const tenant = (id: string): Store => {
    const store = storage.tenant(id)
    return withCommit(store, (writes) => (fate.failure ? Promise.reject(fate.failure) : store.commit(writes)))
  }
  const life = new Life({ ...storage, tenant }, outside, options)
  await life.begin(watch(CALLS))
  return { life, fate }
}

/** Crashes, and restarts at another time. */
async function again(ground: Ground, life: Life, at: number, rule: Rule, settings: TaskSettings = {}): Promise<Life> {
  await life.crash()
  const next = ground.open({ at })
  await next.runner.resume([watch(rule, settings)])
  await next.rest()
  return next
}

const info = (life: Life) => life.runner.nodes.info('a')
const node = (life: Life, label: string) => life.runner.nodes.view('a', label)[0]
const deliveries = (life: Life, limit = 100) => life.runner.nodes.deliveries('a', { limit })

// Holds RUNNER-3, RUNNER-4
describe('over a restart', () => {
  it('a resynced task accepts readings of a clock that was set back', async () => {
    const ground = new Ground()
    const life = await begun(ground, EVICTS)
    const posted = [7000, 5000].map((timestamp) => ({ level: 12, timestamp }))
    await life.to(8000)
    for (const values of posted) await life.send('boiler', values)
    await life.runner.nodes.resync('a')
    const after = await again(ground, life, 9000, EVICTS)
    await after.send('boiler', { level: 1, timestamp: 6000 })
    expect(info(after)?.health).toMatchObject({ late: 1, duplicate: 0, skewed: 1 })
    expect(node(after, 'level')?.rawData).toMatchObject({ level: 1 })
  })

  it('a task recognizes duplicates, except those dropped for lack of room', async () => {
    const ground = new Ground()
    const takes: TaskSettings = { late: 'take' }
    const life = ground.open({ maxRemembered: 20 })
    await life.begin(watch(EVICTS, takes))
    for (let i = 1; i <= 30; i++) {
      await life.to(1000 * i)
      await life.send('boiler', { level: 12, timestamp: i })
    }
    const forgotten = info(life)?.health?.forgotten
    expect(forgotten).toBeGreaterThan(10)
    expect(life.runner.counts?.forgotten).toBe(forgotten)
    const after = await again(ground, life, 31_000, EVICTS, takes)
    for (const timestamp of [1, 29]) await after.send('boiler', { level: 12, timestamp })
    expect(info(after)?.health).toMatchObject({ duplicate: 1, skewed: 1, forgotten })
  })

  it('a deadline that passed during the downtime takes effect', async () => {
    const ground = new Ground()
    const before = await begun(ground, EVICTS)
    await before.send('boiler', { level: 12 })
    const after = await again(ground, before, 90_000, EVICTS)
    expect(node(after, 'level')?.states).toEqual({ LOW: 0.5, HIGH: 0.5 })
  })

  it.each([
    ['skip', 1, 3],
    ['once', 2, 2],
    ['all', 4, 0],
  ] as const)('misfire %s causes %d runs in total and skips %d', async (misfire, runs, skipped) => {
    const ground = new Ground()
    const before = await begun(ground, HOURLY, { misfire })
    await before.to(0)
    expect(info(before)?.invocationCount).toBe(1)
    const after = await again(ground, before, 3.5 * HOUR, HOURLY, { misfire })
    await after.to(3.5 * HOUR)
    expect(info(after)).toMatchObject({ invocationCount: runs, skippedTicks: skipped, nextTick: 4 * HOUR })
    await after.to(4 * HOUR)
    expect(info(after)?.invocationCount).toBe(runs + 1)
  })

  it('ticks that are only seconds late because no host ran count as missed', async () => {
    const ground = new Ground()
    const rule: Rule = { ...HOURLY, task: { type: 'periodic', frequency: 1000, misfire: 'skip' } }
    const before = await begun(ground, rule)
    const after = await again(ground, before, 3500, rule)
    await after.to(3500)
    expect(info(after)).toMatchObject({ invocationCount: 1, skippedTicks: 3, nextTick: 4000 })
  })

  it('an end of a task on its own is reported again', async () => {
    const ground = new Ground()
    const before = await begun(ground, ONCE)
    await before.to(300)
    const told = { id: 'a', epoch: 1, status: 'stopped', finishedTime: 0 }
    expect(before.ended).toEqual([told])
    const after = await again(ground, before, 500, ONCE)
    expect(after.ended).toEqual([told])
  })

  it('a start that did not reach the log is completed', async () => {
    const ground = new Ground()
    const after = ground.open({ at: 7 })
    await after.runner.resume([watch(CALLS)])
    expect(info(after)).toMatchObject({ status: 'running', startTime: 7 })
  })

  it('a start fails while the store is unavailable, and the task does not', async () => {
    const storage = openMemory()
    const tenant = (id: string): Store =>
      withCommit(storage.tenant(id), () => Promise.reject(new AppError('UNAVAILABLE', 'away')))
    const life = new Life({ ...storage, tenant }, new Ground().outside, {})
    await expect(life.runner.resume([watch(CALLS)])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(life.ended).toEqual([])
    await life.close()
  })

  it('a task whose plugs do not exist any more is reported as failed, with the reason', async () => {
    const ground = new Ground()
    const before = await begun(ground, CALLS)
    await before.close()
    const after = ground.open({ plugs: [] })
    await after.runner.resume([watch(CALLS)])
    await after.rest()
    expect(after.ended).toMatchObject([{ id: 'a', epoch: 1, status: 'failed' }])
    expect(after.ended[0]?.error).toContain('level')
  })

  it('the state of another epoch is ignored, and effects have other ids', async () => {
    const ground = new Ground()
    const before = await begun(ground, CALLS)
    await before.send('boiler', { level: 12 })
    await before.begin(watch(CALLS, {}, 2))
    expect(info(before)).toMatchObject({ invocationCount: 0 })
    await before.send('boiler', { level: 12 })
    await before.to(1000)
    expect(ground.outside.calls).toEqual(['a/1/2/0', 'a/2/2/0'])
    await before.crash()
    const after = ground.open({ at: 1000 })
    await after.runner.resume([watch(CALLS, {}, 3)])
    expect(info(after)).toMatchObject({ invocationCount: 0, startTime: 1000 })
    expect((await deliveries(after)).map(({ id }) => id)).toEqual(['a/2/2/0', 'a/1/2/0'])
  })

  it('sleep of the whole machine does not cause a burst of ticks, also during a replay', async () => {
    const ground = new Ground()
    const before = await begun(ground, { ...HOURLY, task: { type: 'periodic', frequency: 10_000 } })
    await before.to(0)
    before.clock.jumpTo(HOUR + 5000)
    await before.rest()
    expect(info(before)).toMatchObject({ invocationCount: 2, nextTick: HOUR + 10_000 })
    const seen = before.look('a')
    const after = await again(ground, before, HOUR + 5000, { ...HOURLY, task: { type: 'periodic', frequency: 10_000 } })
    expect(after.look('a')).toEqual(seen)
  })
})

describe('deliveries', () => {
  it('are listed with their attempts, and the last failure is a dead letter', async () => {
    const ground = new Ground()
    ground.outside.answersAtOnce = false
    const life = await begun(ground, CALLS)
    await life.send('boiler', { level: 12 })
    await life.rest()
    expect(await deliveries(life)).toEqual([
      {
        id: 'a/1/2/0',
        node: 'send',
        plug: 'send:1.0.0',
        status: 'pending',
        attempts: 1,
        createTime: 0,
        lastAttemptTime: 0,
      },
    ])
    ground.outside.answer('a/1/2/0', 'busy')
    await life.rest()
    await life.to(10_000)
    ground.outside.answer('a/1/2/0', 'still busy')
    await life.rest()
    expect(await deliveries(life)).toEqual([
      {
        id: 'a/1/2/0',
        node: 'send',
        plug: 'send:1.0.0',
        status: 'dead',
        attempts: 2,
        createTime: 0,
        lastAttemptTime: 10_000,
        error: 'still busy',
      },
    ])
  })

  it('are limited to the newest thousand of a task, in pages and by status', async () => {
    const ground = new Ground()
    const life = await begun(ground, CALLS)
    for (let i = 0; i < 1010; i++) await life.send('boiler', { level: 20 + i })
    await life.to(1000)
    const all = await deliveries(life, 5000)
    expect(all).toHaveLength(1000)
    const [first, second, third] = all
    const page = await life.runner.nodes.deliveries('a', { limit: 2, after: first?.id ?? '' })
    expect(page).toEqual([second, third])
    expect(await life.runner.nodes.deliveries('a', { limit: 2, status: 'dead' })).toEqual([])
    expect(await life.runner.nodes.deliveries('a', { limit: 2, after: 'none' })).toEqual([])
  })
})

describe('the explanation of a node', () => {
  it('is CLOSED after a stop, rather than NOT_FOUND', async () => {
    const life = await begun(new Ground(), CALLS)
    const why = (id: string) => () => life.runner.nodes.explain(id, 'send')
    expect(why('b')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
    expect(why('a')()).toMatchObject({ node: 'send' })
    await life.runner.close()
    expect(why('a')).toThrow(expect.objectContaining({ code: 'CLOSED' }))
  })
})

// Holds LIVETASKS-2
describe('the stored state of tasks', () => {
  const states = (life: Life) => life.storage.tenant(TENANT).collection(STATES)

  it('is not written again for idle tasks', async () => {
    const ground = new Ground()
    const life = await begun(ground, CALLS)
    await life.begin(runnableOf('b', CALLS, { resource: 'other' }))
    await life.to(30_000)
    expect((await states(life).get('a'))?.version).toBe(1)
    await life.send('other', { level: 1 })
    await life.to(60_000)
    expect((await states(life).get('a'))?.version).toBe(1)
    expect((await states(life).get('b'))?.version).toBe(2)
    const { commits } = life
    await life.to(120_000)
    expect(life.commits).toBe(commits)
  })

  it('lets the log be trimmed up to its position', async () => {
    const life = await begun(new Ground(), CALLS)
    const send = async (times: number) => {
      for (let i = 0; i < times; i++) await life.send('boiler', { level: 1 })
    }
    const bounds = () => life.storage.tenant(TENANT).log('log').bounds()
    await send(20)
    await life.to(30_000)
    expect(await bounds()).toEqual({ first: 22, last: 21 })
    // a separate commit, which is not worthwhile for a few entries
    await send(20)
    await life.to(60_000)
    expect(await bounds()).toEqual({ first: 22, last: 41 })
    await send(5000)
    await life.to(89_000)
    await life.to(90_000)
    expect(await bounds()).toEqual({ first: 5042, last: 5041 })
    await send(1)
    await life.to(130_000)
    await send(1)
    await life.to(160_000)
    expect(await bounds()).toEqual({ first: 5044, last: 5043 })
    await send(1)
    await life.runner.close()
    expect(await bounds()).toEqual({ first: 5045, last: 5044 })
  })

  it('keeps the log for tasks that are not resumed yet, for any duration', async () => {
    const ground = new Ground()
    const ticking: Rule = { ...HOURLY, task: { type: 'periodic', frequency: 10_000 } }
    const [a, b] = [watch(ticking), runnableOf('b', CALLS, { resource: 'other' })]
    const before = ground.open({ checkpointMs: 1e9 })
    for (const task of [a, b]) await before.begin(task)
    await before.send('other', { level: 12 })
    await before.rest()
    const seen = before.look('b')
    await before.crash()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const recalling = async (tasks: readonly string[]) => (tasks.includes('b') ? held : undefined)
    const after = ground.open({ recalling })
    const [first, second] = [after.runner.resume([a]), after.runner.resume([b])]
    await first
    const firstKept = async (...times: readonly number[]) => {
      for (const at of times) await after.to(at)
      return (await after.storage.tenant(TENANT).log('log').bounds()).first
    }
    expect(await firstKept(30_000, 61_000, 100_000, 140_000)).toBe(1)
    release()
    await second
    await after.rest()
    expect(after.look('b')).toEqual(seen)
    expect(await firstKept(170_000, 210_000, 250_000, 290_000)).toBeGreaterThan(1)
    await after.close()
  })

  it('is retried four times a second while the store is unavailable, and this is logged every ten seconds', async () => {
    const log: unknown[] = []
    const told = (message: string, details: object) => void log.push([message, details])
    const { life, fate } = await withFate(new Ground().outside, { told })
    fate.failure = new AppError('UNAVAILABLE', 'away')
    await life.to(45_000)
    const message = 'states of tasks were not stored: away'
    expect(log).toEqual([
      [message, {}],
      [message, { times: 39 }],
    ])
    fate.failure = undefined
    await life.to(46_000)
    expect((await states(life).get('a'))?.version).toBe(1)
    await life.close()
  })

  it('is delayed as long as the log alone can restore it, and no longer', async () => {
    const life = await begun(new Ground(), CALLS)
    const version = async () => (await states(life).get('a'))?.version
    await life.send('boiler', { level: 1 })
    await life.to(29_999)
    expect(await version()).toBeUndefined()
    const before = life.commits
    await life.to(30_000)
    expect(await version()).toBe(1)
    const { commits } = life
    expect(commits).toBe(before + 1)
    for (let i = 0; i < 40; i++) {
      await life.send('boiler', { level: 1 })
      await life.to(30_000 + i * 100)
    }
    expect(life.commits).toBe(commits + 40)
    await life.send('boiler', { level: 12 })
    await life.rest()
    await life.to(34_149)
    expect(await version()).toBe(1)
    await life.to(34_150)
    expect(await deliveries(life)).toHaveLength(1)
    expect(await version()).toBe(2)
  })

  it.each([
    ['the long way', false],
    ['the short way', true],
  ])('soon includes a synchronous call of an actuator, %s', async (_way, isQuiet) => {
    const said: string[] = []
    const say = definePlug({
      name: 'say',
      version: '1.0.0',
      kind: 'actuator',
      execute: ({ id }) => void said.push(id),
    })
    const rule: Rule = {
      ...CALLS,
      sensors: [{ label: 'level', name: 'bound', version: '1.0.0', resource: '$' }],
      actuators: [{ label: 'send', name: 'say', version: '1.0.0' }],
    }
    const ground = new Ground()
    const plugs = [...ground.outside.plugs, say]
    const crashed = async (before: Life, at: number) => {
      await before.crash()
      const after = ground.open({ at, plugs })
      await after.runner.resume([watch(rule)])
      await after.rest()
      return after
    }
    const first = ground.open({ plugs })
    await first.begin(watch(rule))
    if (isQuiet) for (let i = 0; i < 3; i++) await first.send('boiler', { level: 1 })
    await first.send('boiler', { level: 12 })
    await first.rest()
    expect(said).toHaveLength(1)
    await first.to(249)
    const second = await crashed(first, 249)
    expect(said).toHaveLength(2)
    await second.send('boiler', { level: 12 })
    await second.rest()
    await second.to(499)
    await (await crashed(second, 499)).close()
    expect(said).toHaveLength(3)
  })

  it('is retried soon when the store had no room', async () => {
    const { life, fate } = await withFate()
    fate.failure = new AppError('STORE', 'no room')
    await life.to(30_000)
    fate.failure = undefined
    expect((await states(life).get('a'))?.version).toBeUndefined()
    await life.to(30_250)
    expect((await states(life).get('a'))?.version).toBe(1)
  })

  it('includes an answer during an outage of the store, once it is back', async () => {
    const { outside } = new Ground()
    outside.answersAtOnce = false
    const { life, fate } = await withFate(outside)
    await life.send('boiler', { level: 12 })
    await life.rest()
    const [call = ''] = outside.open
    fate.failure = new AppError('UNAVAILABLE', 'away')
    outside.answer(call)
    await life.to(2000)
    const delivered = async () => (await life.runner.nodes.deliveries('a', { limit: 1 }))[0]?.status
    expect(await delivered()).toBe('pending')
    fate.failure = undefined
    await life.to(2250)
    expect(await delivered()).toBe('delivered')
    await life.close()
  })

  it('soon includes the effect of a timer', async () => {
    const life = await begun(new Ground(), EVICTS)
    await life.send('boiler', { level: 12 })
    await life.to(60_249)
    expect((await states(life).get('a'))?.version).toBe(1)
    await life.to(60_250)
    expect((await states(life).get('a'))?.version).toBe(2)
  })

  it('has its log kept for tasks that are resumed later, also across another crash', async () => {
    const ground = new Ground()
    const first = await begun(ground, CALLS)
    await first.begin(runnableOf('b', CALLS, { resource: 'boiler' }))
    await first.send('boiler', { level: 1 })
    await first.crash()
    const second = ground.open()
    await second.runner.resume([watch(CALLS)])
    await second.to(1000)
    await second.crash()
    const third = ground.open({ at: 1000 })
    await third.runner.resume([watch(CALLS)])
    await third.runner.resume([runnableOf('b', CALLS, { resource: 'boiler' })])
    expect(info(third)).toMatchObject({ startTime: 0, invocationCount: 1 })
    expect(third.runner.nodes.info('b')).toMatchObject({ startTime: 0, invocationCount: 1 })
  })

  it('is deleted with its task', async () => {
    const ground = new Ground()
    const life = await begun(ground, CALLS)
    await life.send('boiler', { level: 12 })
    await life.to(1000)
    await life.forget('a')
    await life.to(2000)
    expect(await states(life).count()).toBe(0)
    expect(await life.storage.tenant(TENANT).collection(DELIVERIES).count()).toBe(0)
    expect(info(life)).toBeUndefined()
    await expect(life.runner.nodes.command('a', 'level', 'start')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is complete when the runner is closed, and no input is accepted after that', async () => {
    const ground = new Ground()
    const life = await begun(ground, CALLS)
    await life.send('boiler', { level: 12 })
    await life.runner.close()
    expect(await states(life).get('a')).toMatchObject({ value: { epoch: 1, state: { invocations: 1 } } })
    await expect(life.send('boiler', { level: 12 })).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

// Holds REPLAY-1, LIVETASKS-1
describe('inputs', () => {
  it('that a task rejects are rejected with its error', async () => {
    const life = await begun(new Ground(), CALLS)
    const { nodes } = life.runner
    await expect(nodes.push('a', 'level', { state: 'HOT' })).rejects.toMatchObject({ code: 'INVALID_STATE' })
    await expect(nodes.push('a', 'none', { state: 'LOW' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(nodes.push('other', 'level', { state: 'LOW' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await nodes.push('a', 'level', { state: 'HIGH' })
    expect(node(life, 'level')?.states).toEqual({ LOW: 0, HIGH: 1 })
  })

  it('apply at the time of their arrival, although time continues while they are stored', async () => {
    const life = await begun(new Ground(), EVICTS)
    await life.send('boiler', { level: 12 })
    await life.to(50_000)
    const sent = life.send('boiler', { level: 13 })
    while (life.runner.queued === 0) await Promise.resolve()
    life.clock.advanceTo(105_000)
    await sent
    await life.rest()
    expect(node(life, 'level')).toMatchObject({ collectedTime: 50_000, states: { LOW: 0, HIGH: 1 } })
    await life.to(110_000)
    expect(node(life, 'level')?.states).toEqual({ LOW: 0.5, HIGH: 0.5 })
  })

  it('that cannot be stored are rejected without an effect on others', async () => {
    const life = await begun(new Ground(), EVICTS)
    const large = life.send('boiler', { level: 1, text: 'x'.repeat(1_100_000) })
    const [refused, ...taken] = await Promise.allSettled([large, life.send('boiler', { level: 2 })])
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'TOO_LARGE' } })
    expect(taken).toEqual([{ status: 'fulfilled', value: true }])
    expect(info(life)?.invocationCount).toBe(1)
  })
})
