/**
 * Tests the visible deliveries of acting calls, including calls that wait for earlier ones, before and after a restart.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { definePlug, type Plug, type PlugResult, type Ports, type Rule } from '../../../../src/index.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { Store } from '../../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import type { RunnableTask } from '../../../../src/services/rules/runner.ts'
import { Ground, Life, Outside, runnableOf } from './support/lives.ts'
import { withCommit } from './support/slow-store.ts'

const ports: Ports = { metadata: () => ({ floor: 3 }), secret: () => 'sesame' }

function ruleOf(more: Partial<NonNullable<Rule['actuators']>[number]> = {}): Rule {
  return {
    sensors: [{ label: 'level', name: 'level', resource: '$' }],
    actuators: [{ label: 'send', name: 'send', ...more }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'] }],
  }
}

const taskOf = (rule: Rule) => runnableOf('a', rule, { resource: 'b' })

async function deliveriesOf(life: Life) {
  return life.runner.nodes.deliveries('a', { limit: 100 })
}

/** Returns everything visible about a task, except when attempts were made, since open calls are repeated. */
async function seen(life: Life): Promise<unknown> {
  const { time: _time, ...explained } = life.runner.nodes.explain('a', 'send')
  const deliveries = (await deliveriesOf(life)).map(({ lastAttemptTime: _last, ...delivery }) => delivery)
  return JSON.parse(JSON.stringify({ look: life.look('a'), explained, deliveries }))
}

/** How the process ends: by a crash with stored states, by a crash without, or by a regular stop. */
const ENDS = [
  ['crash', 10],
  ['crash', 1e9],
  ['close', 1e9],
] as const

describe.each(ENDS)('after a %s, when states are stored every %i ms,', (how, checkpointMs) => {
  it.each<[string, Rule, number]>([
    ['that has no properties', ruleOf(), 3],
    ['with a value of its message', ruleOf({ properties: { text: '${streamdata.level}' } }), 3],
    ['with a secret', ruleOf({ properties: { text: '${vault.KEY} ${streamdata.level}' } }), 3],
    ['with metadata', ruleOf({ properties: { text: '${node.resource.meta.floor}' } }), 3],
    ['over a list', ruleOf({ properties: { text: '${loop.id}' }, loopDef: '[{"id":"1"},{"id":"2"}]' }), 3],
    ['that is tried again', ruleOf({ retryConfig: { maxRetries: 2, minBackoff: 'PT1H', maxBackoff: 'PT1H' } }), 3],
    ['that has no order', ruleOf({ unordered: true }), 0],
  ])('calls that wait for one %s are restored unchanged', async (_fact, rule, waiting) => {
    const ground = new Ground()
    const { outside } = ground
    outside.answersAtOnce = false
    const task = taskOf(rule)
    let life = ground.open({ checkpointMs, ports })
    await life.begin(task)
    for (const level of [11, 12, 13]) {
      await life.send('b', { level })
      await life.rest()
    }
    await life.to(100)
    await life.send('b', { level: 14 })
    await life.to(200)
    if (rule.actuators?.[0]?.retryConfig !== undefined) outside.answer(outside.open[0] ?? '', 'busy')
    await life.rest()
    const before = await seen(life)
    const info = waiting === 0 ? { status: 'running' } : { waiting: { inputs: 0, effects: waiting } }
    expect(before).toMatchObject({ look: { info }, deliveries: { length: 4 } })
    for (const at of [200, 201, 202]) {
      await life[how]()
      outside.forget()
      life = ground.open({ at, checkpointMs, ports })
      await life.runner.resume([task])
      await life.rest()
      expect(await seen(life)).toEqual(before)
    }
    await life.close()
  })

  it('a delayed result counts as delivered', async () => {
    const ground = new Ground()
    const held = definePlug({
      name: 'send',
      version: '1.0.0',
      kind: 'actuator',
      execute: async () => Promise.resolve({ message: 'sent', after: 5000 }),
    })
    const options = { checkpointMs, plugs: [...ground.outside.plugs.filter(({ name }) => name !== 'send'), held] }
    const before = ground.open(options)
    await before.begin(taskOf(ruleOf()))
    await before.send('b', { level: 11 })
    await before.to(1000)
    await before.send('b', { level: 1 })
    await before[how]()
    const after = ground.open({ at: 1000, ...options })
    await after.runner.resume([taskOf(ruleOf())])
    await after.to(10_000)
    expect(await deliveriesOf(after)).toMatchObject([
      { id: 'a/1/2/0', status: 'delivered', message: 'sent', attempts: 1 },
    ])
    await after.close()
  })

  it.each([1, 2])('a call whose time limit passes while no host runs has time left after restart %i', async (lives) => {
    const ground = new Ground()
    ground.outside.answersAtOnce = false
    const task = taskOf(ruleOf({ timeout: 'PT5S' }))
    let life = ground.open({ checkpointMs })
    await life.begin(task)
    await life.send('b', { level: 11 })
    await life.to(1000)
    for (let n = 1; n <= lives; n++) {
      await life[how]()
      ground.outside.forget()
      life = ground.open({ at: n * 3_600_000, checkpointMs })
      // the first of two lives dies before its tasks continue
      if (n === lives) await life.runner.resume([task])
      else await life.send('nobody', { level: 1 })
      await life.rest()
    }
    expect(await deliveriesOf(life)).toMatchObject([{ status: 'pending' }])
    await life.to(lives * 3_600_000 + 900)
    ground.outside.answer('a/1/2/0')
    await life.rest()
    expect(await deliveriesOf(life)).toMatchObject([{ status: 'delivered', attempts: 1 }])
    await life.close()
  })

  it.each<[string, string, number, readonly (readonly [number, string])[]]>([
    ['whose time limit passed meanwhile is abandoned after its remaining time', 'PT5S', 60_000, [[65_001, 'dead']]],
    [
      'whose time limit has not passed has its full remaining time',
      'PT60S',
      41_000,
      [
        [99_000, 'pending'],
        [101_001, 'dead'],
      ],
    ],
  ])('a call without an answer, %s', async (_what, timeout, back, expected) => {
    const ground = new Ground()
    ground.outside.answersAtOnce = false
    const task = taskOf(ruleOf({ timeout }))
    const before = ground.open({ checkpointMs })
    await before.begin(task)
    await before.send('b', { level: 11 })
    await before.to(1000)
    await before[how]()
    const after = ground.open({ at: back, checkpointMs })
    await after.runner.resume([task])
    for (const [at, status] of expected) {
      await after.to(at)
      expect(await deliveriesOf(after)).toMatchObject([{ status }])
    }
    await after.close()
  })

  it('a waiting call that is dropped by a change is dead with its last error', async () => {
    const ground = new Ground()
    ground.outside.answersAtOnce = false
    const retryConfig = { maxRetries: 1, minBackoff: 'PT1H', maxBackoff: 'PT1H' }
    const task = taskOf(ruleOf({ retryConfig }))
    const before = ground.open({ checkpointMs })
    await before.begin(task)
    await before.send('b', { level: 11 })
    await before.rest()
    ground.outside.answer('a/1/2/0', 'busy')
    await before.to(100)
    await before[how]()
    const after = ground.open({ at: 100, checkpointMs })
    await after.runner.resume([task])
    await after.change(taskOf(ruleOf({ retryConfig, timeout: 'PT2S' })), task)
    expect(await deliveriesOf(after)).toMatchObject([{ status: 'dead', error: 'busy' }])
    await after.close()
  })

  it('a completed call with a secret is not repeated', async () => {
    const ground = new Ground()
    ground.outside.answersAtOnce = false
    const task = taskOf(ruleOf({ properties: { text: '${vault.KEY}' } }))
    const before = ground.open({ checkpointMs, ports })
    await before.begin(task)
    await before.send('b', { level: 11 })
    await before.rest()
    ground.outside.answer('a/1/2/0')
    await before.rest()
    await before[how]()
    const after = ground.open({ checkpointMs, ports })
    await after.runner.resume([task])
    await after.rest()
    expect(ground.outside.calls).toEqual(['a/1/2/0'])
    expect(await deliveriesOf(after)).toMatchObject([{ status: 'delivered' }])
    await after.close()
  })
})

/**
 * Creates a plug whose first call answers when the test lets it, and later ones at once, each with the configured
 * answer.
 */
function sends(...answers: readonly (() => PlugResult<never> | Promise<PlugResult<never>>)[]): {
  plugs: readonly Plug[]
  first: () => void
} {
  let settle = (): void => undefined
  let made = 0
  const send = definePlug({
    name: 'send',
    version: '1.0.0',
    kind: 'actuator',
    execute: () => {
      if (made++ === 0) return new Promise<undefined>((resolve) => (settle = () => resolve(undefined)))
      return answers[made - 2]?.()
    },
  })
  const others = new Ground().outside.plugs.filter(({ name }) => name !== 'send')
  return { plugs: [...others, send], first: () => settle() }
}

describe('a call that had to wait', () => {
  async function waited(plugs: readonly Plug[], levels: readonly number[], maxWaiting?: number): Promise<Life> {
    const life = new Ground().open({ plugs, ...(maxWaiting !== undefined && { maxWaiting }) })
    await life.begin(taskOf(ruleOf()))
    for (const level of levels) await life.send('b', { level })
    return life
  }

  it('and is answered at once is delivered, or dead with its error', async () => {
    const { plugs, first } = sends(
      () => ({ message: 'second' }),
      () => {
        throw new Error('no paper')
      },
    )
    const life = await waited(plugs, [11, 12, 13])
    await life.to(500)
    first()
    await life.rest()
    expect(await deliveriesOf(life)).toMatchObject([
      { status: 'dead', error: 'no paper', attempts: 1, createTime: 0, lastAttemptTime: 500 },
      { status: 'delivered', message: 'second', attempts: 1, createTime: 0, lastAttemptTime: 500 },
      { status: 'delivered', attempts: 1, lastAttemptTime: 0 },
    ])
    await life.close()
  })

  it('and fails is logged once, and failures soon after are counted', async () => {
    const lines: [string, object][] = []
    const printer = definePlug({
      name: 'send',
      version: '1.0.0',
      kind: 'actuator',
      execute: () => Promise.reject(new Error('no paper')),
    })
    const plugs = [...sends().plugs.filter(({ name }) => name !== 'send'), printer]
    const life = new Ground().open({ plugs, checkpointMs: 250, told: (...line) => void lines.push(line) })
    const failed = { task: 'a', node: 'send', plug: 'send:1.0.0', attempts: 1, reason: 'no paper' }
    await life.begin(taskOf(ruleOf()))
    await life.send('b', { level: 11 })
    await life.to(1_000)
    expect(lines).toEqual([['a delivery failed', failed]])
    for (const level of [12, 13, 14]) await life.send('b', { level })
    await life.to(20_000)
    expect(lines.slice(1)).toEqual([['a delivery failed', { ...failed, times: 3 }]])
    await life.close()
  })

  it('and was dropped, because too many waited, is reported', async () => {
    const life = await waited(sends().plugs, [11, 12, 13], 1)
    const deliveries = await deliveriesOf(life)
    expect(deliveries.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'a/1/6/0 pending',
      'a/1/2/0 pending',
      'a/1/4/0 dead',
    ])
    const error = 'dropped while it waited: 1 later calls wait for earlier calls on the same target'
    expect(deliveries.at(-1)).toMatchObject({ error, attempts: 0 })
    expect(life.look('a')).toMatchObject({ info: { health: { dropped: 1 }, waiting: { effects: 1 } } })
    await life.close()
  })
})

it.each(['under way', 'whose message is on its way'])(
  'a call %s has time left when the clock is set forward',
  async (when) => {
    const ground = new Ground()
    ground.outside.answersAtOnce = false
    const life = ground.open()
    await life.begin(taskOf(ruleOf({ timeout: 'PT5S' })))
    const sent = life.send('b', { level: 11 })
    if (when === 'under way') {
      await sent
      await life.rest()
    } else while (life.runner.queued === 0) await Promise.resolve()
    life.clock.jumpTo(3_600_000)
    await Promise.all([sent, life.send('b', { level: 1 })])
    await life.rest()
    ground.outside.answer('a/1/2/0')
    await life.rest()
    expect(await deliveriesOf(life)).toMatchObject([{ status: 'delivered', attempts: 1 }])
    await life.close()
  },
)

describe('a call that fails during the stop of its host', () => {
  it('is repeated after the restart, since its failure may be due to the stop', async () => {
    const ground = new Ground()
    const { outside } = ground
    outside.answersAtOnce = false
    const task = taskOf(ruleOf())
    const life = ground.open()
    await life.begin(task)
    await life.send('b', { level: 11 })
    await life.rest()
    const [call = ''] = outside.open
    // something is being written, and the stop waits for it
    const sent = life.send('b', { level: 1 })
    const stopped = life.close()
    outside.answer(call, 'the runner is closed')
    await Promise.all([sent, stopped])

    const next = ground.open({ at: 1 })
    await next.runner.resume([task])
    await next.rest()
    expect(outside.calls).toEqual([call, call])
    outside.answer(call)
    await next.rest()
    expect(await deliveriesOf(next)).toMatchObject([{ id: call, status: 'delivered' }])
  })
})

it.each([
  ['stopped', 2],
  ['begun anew', 3],
])(
  'a delivery is still listed when its run is %s and a crash follows before its state is stored',
  async (how, next) => {
    const ground = new Ground()
    const task = taskOf(ruleOf())
    const life = ground.open({ checkpointMs: 1e9 })
    await life.begin(task)
    await life.send('b', { level: 11 })
    await life.rest()
    const [delivered] = await deliveriesOf(life)
    expect(delivered).toMatchObject({ id: 'a/1/2/0', status: 'delivered' })
    const again = runnableOf('a', ruleOf(), { resource: 'b' }, 2)
    if (how === 'stopped') await life.end('a')
    else await life.begin(again)
    await life.crash()
    const later = ground.open({ at: 1000, checkpointMs: 1e9 })
    await later.runner.resume(how === 'stopped' ? [] : [again])
    expect(await deliveriesOf(later)).toEqual([delivered])
    // the call of a later run does not replace it either, and all calls are removed with the task
    const third = runnableOf('a', ruleOf(), { resource: 'b' }, next)
    await later.begin(third)
    await later.send('b', { level: 12 })
    await later.rest()
    expect(await deliveriesOf(later)).toEqual([expect.objectContaining({ id: `a/${next}/2/0` }), delivered])
    await later.end('a', next)
    await later.forget('a')
    expect(await deliveriesOf(later)).toEqual([])
    await later.close()
  },
)

it('a run that ends on its own is reported as ended after its deliveries are stored', async () => {
  const ground = new Ground()
  const life = ground.open({ checkpointMs: 1e9 })
  const once: Rule = {
    sensors: [{ label: 'count', name: 'count' }],
    actuators: [{ label: 'send', name: 'send' }],
    triggers: [{ sourceLabel: 'count', destinationLabel: 'send', statesTrigger: ['ODD'] }],
    task: { type: 'onetime' },
  }
  await life.begin(taskOf(once))
  await life.to(300)
  expect(life.ended).toMatchObject([{ status: 'stopped' }])
  await life.crash()
  const later = ground.open({ checkpointMs: 1e9 })
  expect(await deliveriesOf(later)).toMatchObject([{ status: 'delivered' }])
  await later.close()
})

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await turn()
}

/** Runs lives on one disk; the test delays commits before and after they are done, or rejects them. */
class GatedGround {
  /** Awaited before each commit */
  before: Promise<unknown> = Promise.resolve()
  /** Kind of inputs whose commits are done but never acknowledged */
  silentAfter = ''
  /** Rejects all commits that do more than append to the log */
  isFull = false
  readonly #disk = new MemoryDisk()
  readonly #plugs: readonly Plug[]

  constructor(plugs = new Outside().plugs) {
    this.#plugs = plugs
  }

  open(at: number, checkpointMs = 1e9): Life {
    const storage = openMemory({ disk: this.#disk })
    const tenant = (id: string): Store => {
      const store = storage.tenant(id)
      return withCommit(store, async (writes) => {
        await this.before
        if (this.isFull && writes.some(({ kind }) => kind !== 'append')) throw new AppError('UNAVAILABLE', 'full')
        const committed = await store.commit(writes)
        const isSilent = this.silentAfter !== '' && JSON.stringify(writes).includes(`"k":"${this.silentAfter}"`)
        return isSilent ? new Promise<never>(() => undefined) : committed
      })
    }
    return new Life({ ...storage, tenant }, new Outside(), { at, checkpointMs, plugs: this.#plugs })
  }

  /** Sends a message and restarts the run before the message is durable. `between`: called between both. */
  async beginAnew(life: Life, between = () => {}): Promise<{ done: Promise<unknown>; again: RunnableTask }> {
    let goOn = (): void => undefined
    this.before = new Promise<void>((resolve) => (goOn = resolve))
    const sent = life.send('b', { level: 11 })
    await turn()
    between()
    await turn()
    const again = runnableOf('a', ruleOf(), { resource: 'b' }, 2)
    const begun = life.begin(again)
    await turn()
    goOn()
    return { done: Promise.all([sent, begun]), again }
  }
}

/** Returns what the next host lists after the new run has acted once. */
async function listedAfterNext(ground: GatedGround, life: Life): Promise<unknown> {
  await life.send('b', { level: 12 })
  await life.rest()
  await life.close()
  const next = ground.open(2000)
  const listed = await deliveriesOf(next)
  await next.close()
  return listed
}

const OF_BOTH = [{ id: 'a/2/2/0' }, { id: 'a/1/2/0' }]

describe('a delivery whose message was in flight when its run was restarted', () => {
  it.each([
    ['goes on', false],
    ['crashes', true],
  ])('is still listed, and the host %s', async (_how, crashes) => {
    const ground = new GatedGround()
    let life = ground.open(0)
    await life.begin(taskOf(ruleOf()))
    const { done, again } = await ground.beginAnew(life)
    await done
    expect(await deliveriesOf(life)).toMatchObject([{ id: 'a/1/2/0' }])
    if (crashes) {
      await life.crash()
      life = ground.open(1000)
      await life.runner.resume([again])
    }
    expect(await listedAfterNext(ground, life)).toMatchObject(OF_BOTH)
  })

  it('keeps its position when the host crashes before the restart is applied', async () => {
    const { plugs, first } = sends(
      () => ({ message: 'at once' }),
      () => Promise.resolve({ message: 'later' }),
    )
    const ground = new GatedGround(plugs)
    let life = ground.open(0, 250)
    await life.begin(taskOf(ruleOf()))
    await life.send('b', { level: 10.5 })
    const { again } = await ground.beginAnew(life, () => {
      ground.silentAfter = 'begin'
      first()
    })
    await turns(5)
    // checkpoint is written
    life.clock.advanceTo(300)
    await turns(5)
    await life.crash()
    ground.silentAfter = ''
    life = ground.open(1000)
    await life.runner.resume([again])
    const right = [{ id: 'a/2/2/0' }, { id: 'a/1/4/0' }, { id: 'a/1/2/0' }]
    expect(await listedAfterNext(ground, life)).toMatchObject(right)
  })

  it('is listed once it is stored', async () => {
    const ground = new GatedGround()
    const life = ground.open(0)
    await life.begin(taskOf(ruleOf()))
    const { done } = await ground.beginAnew(life)
    await done
    ground.isFull = true
    expect(await deliveriesOf(life)).toEqual([])
    ground.isFull = false
    expect(await deliveriesOf(life)).toMatchObject([{ id: 'a/1/2/0' }])
    await life.close()
  })
})
