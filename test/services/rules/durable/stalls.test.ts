/** Tests time limits of calls while the store does not respond. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Rule } from '../../../../src/index.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import { StallDetector } from '../../../../src/services/rules/durable/stall-detector.ts'
import type { Store, Write } from '../../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { Life, Outside, runnableOf } from './support/lives.ts'
import { withCommit } from './support/slow-store.ts'

const SENDS: Rule = {
  sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$' }],
  actuators: [{ label: 'send', name: 'send', version: '1.0.0' }],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'] }],
  task: { type: 'reactive' },
}
/** The same rule, but a failed call is repeated once after a second. */
const RETRIED: Rule = {
  ...SENDS,
  actuators: (SENDS.actuators ?? []).map((send) => {
    return { ...send, retryConfig: { maxRetries: 1, minBackoff: 'PT1S', maxBackoff: 'PT1S' } }
  }),
}
const LIMIT = 50_000
const task = runnableOf('a', SENDS, { resource: 'boiler' })

/** A store that hangs or is unavailable when the test decides. */
class Ground {
  readonly outside = new Outside()
  /** Awaited before a commit is rejected */
  refusing = Promise.resolve()
  /** Which commits that were sent during the hang are rejected after it */
  refusesAfter: (writes: readonly Write[]) => boolean = () => false
  readonly #disk = new MemoryDisk()
  #isAway = false
  #gate = Promise.resolve()
  #open = (): void => undefined

  constructor() {
    this.outside.answersAtOnce = false
  }

  open(at = 0): Life {
    const storage = openMemory({ disk: this.#disk })
    const tenant = (id: string): Store => {
      const store = storage.tenant(id)
      return withCommit(store, async (writes) => {
        const { refusing } = this
        if (this.#isAway) await refusing
        if (this.#isAway) throw new AppError('UNAVAILABLE', 'away')
        await this.#gate
        if (this.refusesAfter(writes)) {
          await this.refusing
          throw new AppError('UNAVAILABLE', 'away')
        }
        return store.commit(writes)
      })
    }
    return new Life({ ...storage, tenant }, this.outside, { at })
  }

  standStill(): void {
    this.#gate = new Promise((resolve) => (this.#open = resolve))
  }

  goAway(): void {
    this.#isAway = true
  }

  goOn(): void {
    this.#isAway = false
    this.#open()
  }
}

/** Lets time pass although the store does not respond. */
async function pass(life: Life, time: number): Promise<void> {
  for (let at = life.clock.nextAt(); at !== undefined && at <= time; at = life.clock.nextAt()) {
    life.clock.advanceTo(at)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  life.clock.advanceTo(time)
  for (let turns = 0; turns < 5; turns++) await turn()
}

let ground: Ground
let life: Life
/** Starts a task without messages. */
beforeEach(async () => {
  ground = new Ground()
  life = ground.open()
  await life.begin(task)
  await life.rest()
})
afterEach(() => life.close())

/** Starts a call. */
async function called(): Promise<void> {
  await life.send('boiler', { level: 12 })
  await life.rest()
}
const statuses = async (life: Life) =>
  (await life.runner.nodes.deliveries('a', { limit: 10 })).map(({ status }) => status)

// Holds STILL-2

describe('while the store stalls', () => {
  it('a message waits to be durable, and its call has its full time limit after that', async () => {
    ground.standStill()
    const sent = life.send('boiler', { level: 12 })
    await pass(life, LIMIT + 5000)
    expect(ground.outside.calls).toEqual([])
    ground.goOn()
    await sent
    await life.rest()
    await life.to(2 * LIMIT + 4999)
    expect(ground.outside.open).toHaveLength(1)
    await life.to(2 * LIMIT + 5000)
    expect([ground.outside.open, await statuses(life)]).toEqual([[], ['dead']])
  })

  it('successive messages do not time out earlier calls', async () => {
    ground.standStill()
    const sent: Promise<unknown>[] = []
    for (const at of [0, 20_000, 40_000, LIMIT + 5000]) {
      await pass(life, at)
      sent.push(life.send('boiler', { level: 12 + sent.length }))
    }
    ground.goOn()
    await Promise.all(sent)
    await life.rest()
    ground.outside.answersAtOnce = true
    for (const call of ground.outside.open) ground.outside.answer(call)
    await life.rest()
    expect(await statuses(life)).toEqual(['delivered', 'delivered', 'delivered', 'delivered'])
  })

  it.each(['standStill', 'goAway'] as const)('a call in progress is not abandoned (%s)', async (how) => {
    await called()
    ground[how]()
    await pass(life, LIMIT + 10_000)
    expect(ground.outside.open).toHaveLength(1)
    ground.goOn()
    await pass(life, LIMIT + 11_000)
    await life.rest()
    const [call = ''] = ground.outside.open
    ground.outside.answer(call)
    await life.rest()
    expect(await statuses(life)).toEqual(['delivered'])
  })

  it('an answer can be the first event that reaches the store after it is back', async () => {
    await called()
    ground.goAway()
    await pass(life, LIMIT + 10_000)
    ground.goOn()
    const [call = ''] = ground.outside.open
    ground.outside.answer(call)
    await life.rest()
    expect(await statuses(life)).toEqual(['delivered'])
  })

  it('a message that arrives before the discounted time is durable does not time out a call', async () => {
    await called()
    ground.standStill()
    const second = life.send('boiler', { level: 13 })
    await pass(life, LIMIT + 5000)
    let refuse = (): void => undefined
    ground.refusing = new Promise((resolve) => (refuse = resolve))
    ground.goOn()
    // the commit that records the excluded time is pending from here, and is rejected after the next message
    ground.goAway()
    await second
    await pass(life, LIMIT + 5500)
    ground.goOn()
    const third = life.send('boiler', { level: 14 })
    await pass(life, LIMIT + 5600)
    ground.goAway()
    refuse()
    await third
    expect(ground.outside.open).toHaveLength(1)
    ground.goOn()
    await pass(life, LIMIT + 8000)
    expect(await statuses(life)).toEqual(['pending', 'pending', 'pending'])
  })

  it('no call is abandoned because the rejection of a message takes long', async () => {
    await called()
    ground.goAway()
    await pass(life, LIMIT + 100)
    let refuse = (): void => undefined
    ground.refusing = new Promise((resolve) => (refuse = resolve))
    const sent = life.send('boiler', { level: 13 })
    await turn()
    await pass(life, LIMIT + 5000)
    expect(life.look('a')).toMatchObject({ info: { status: 'running' } })
    expect(ground.outside.open).toHaveLength(1)
    refuse()
    await expect(sent).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(ground.outside.open).toHaveLength(1)
    ground.goOn()
  })

  it.each([
    ['over just before its limit', LIMIT - 100],
    ['over just after its limit', LIMIT + 100],
    ['long over at its limit', LIMIT - 20_000],
  ])('an outage that is %s does not count toward a time limit', async (_when, until) => {
    await called()
    ground.goAway()
    await pass(life, until)
    ground.goOn()
    await pass(life, until + LIMIT - 1000)
    expect(ground.outside.open).toHaveLength(1)
    await pass(life, until + LIMIT + 1000)
    expect([ground.outside.open, await statuses(life)]).toEqual([[], ['dead']])
  })

  it('a store that responds soon after a request has stalled since its previous response', async () => {
    await called()
    ground.standStill()
    await pass(life, LIMIT + 2000)
    ground.goOn()
    await life.rest()
    await life.to(2 * LIMIT + 1999)
    expect(ground.outside.open).toHaveLength(1)
    await life.to(2 * LIMIT + 2000)
    expect([ground.outside.open, await statuses(life)]).toEqual([[], ['dead']])
  })

  it('a message just after a request to the store does not time out a call', async () => {
    await called()
    ground.standStill()
    await pass(life, LIMIT + 100)
    const sent = life.send('boiler', { level: 13 })
    await turn()
    await pass(life, LIMIT + 5000)
    ground.goOn()
    await sent
    await life.rest()
    expect([ground.outside.open.length, await statuses(life)]).toEqual([1, ['pending', 'pending']])
  })

  it('a call that failed meanwhile is retried after the stall, with its full time limit', async () => {
    await life.begin(runnableOf('a', RETRIED, { resource: 'boiler' }, 2))
    await called()
    ground.standStill()
    const [call = ''] = ground.outside.open
    ground.outside.answer(call, 'refused')
    await pass(life, LIMIT + 5000)
    expect(ground.outside.calls).toHaveLength(1)
    ground.goOn()
    await life.rest()
    await life.to(2 * LIMIT + 4999)
    expect([ground.outside.calls.length, ground.outside.open.length]).toEqual([2, 1])
    await life.to(2 * LIMIT + 5000)
    expect([ground.outside.open, await statuses(life)]).toEqual([[], ['dead']])
  })

  it('a call that is due after a finally rejected message has its full time limit', async () => {
    await life.begin(runnableOf('a', RETRIED, { resource: 'boiler' }, 2))
    await called()
    const [call = ''] = ground.outside.open
    ground.outside.answer(call, 'refused')
    await life.rest()
    let refuse = (): void => undefined
    ground.refusing = new Promise((resolve) => (refuse = resolve))
    ground.goAway()
    const sent = life.send('boiler', { level: 13 })
    await pass(life, LIMIT + 5000)
    refuse()
    await expect(sent).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    ground.goOn()
    await pass(life, LIMIT + 8000)
    expect([ground.outside.calls.length, await statuses(life)]).toEqual([2, ['pending']])
  })

  it('a finally stored state does not count the waiting time of a message that is rejected', async () => {
    await called()
    ground.standStill()
    // the state is written before the message
    await pass(life, 1000)
    const sent = life.send('boiler', { level: 13 })
    await turn()
    await pass(life, LIMIT + 5000)
    let refuse = (): void => undefined
    ground.refusing = new Promise((resolve) => (refuse = resolve))
    ground.refusesAfter = (writes) => writes.some(({ kind }) => kind === 'append')
    ground.goOn()
    await pass(life, LIMIT + 5100)
    refuse()
    await expect(sent).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await pass(life, LIMIT + 7000)
    ground.refusesAfter = () => false
    // only the first second of the call's time has counted
    await pass(life, 2 * LIMIT + 5900)
    expect(ground.outside.open).toHaveLength(1)
    await pass(life, 2 * LIMIT + 7500)
    expect([ground.outside.open, await statuses(life)]).toEqual([[], ['dead']])
  })

  it('a reader of a task does not time out its calls before the discounted time is durable', async () => {
    await called()
    ground.standStill()
    await pass(life, LIMIT + 5000)
    ground.goOn()
    ground.standStill()
    await pass(life, LIMIT + 5000)
    expect(life.look('a')).toMatchObject({ info: { status: 'running' } })
    expect(ground.outside.open).toHaveLength(1)
    ground.goOn()
    await life.rest()
    expect(ground.outside.open).toHaveLength(1)
  })

  it('discounted time is discounted again during a replay', async () => {
    ground.standStill()
    const sent = life.send('boiler', { level: 12 })
    await pass(life, LIMIT + 5000)
    ground.goOn()
    await sent
    await life.rest()
    await life.crash()
    life = ground.open(LIMIT + 6000)
    await life.runner.resume([task])
    await life.rest()
    // a second without a running process does not count either
    await life.to(2 * LIMIT + 5999)
    expect(ground.outside.open).toHaveLength(1)
    await life.to(2 * LIMIT + 6000)
    expect(ground.outside.open).toEqual([])
  })
})

describe('a store that responds', () => {
  it('lets calls time out at their limit', async () => {
    await life.send('boiler', { level: 12 })
    await life.to(LIMIT - 1)
    expect(ground.outside.open).toHaveLength(1)
    await life.to(LIMIT)
    expect([ground.outside.open, await statuses(life)]).toEqual([[], ['dead']])
  })
})

// Holds STILL-1
describe('StallDetector', () => {
  it('discounts each period once', () => {
    const stall = new StallDetector(0)
    stall.responded(1000, 9000)
    expect(stall.since).toBe(1000)
    stall.counted(9000)
    expect(stall.since).toBeUndefined()
    stall.responded(2000, 11_000)
    expect(stall.since).toBe(9000)
  })

  it('keeps the order of discounts', () => {
    const stall = new StallDetector(0)
    stall.responded(0, 20_000)
    stall.counted(21_000, 15_000)
    expect(stall.since).toBe(0)
    stall.counted(22_000, 0)
    expect(stall.since).toBeUndefined()
  })

  it('undoes what could not be stored', () => {
    const stall = new StallDetector(0)
    stall.responded(1000, 9000)
    stall.counted(9000)
    stall.lost(1000, 9000)
    expect([stall.since, stall.queryAgainAt]).toEqual([1000, 9250])
  })

  it('counts a stall of a second', () => {
    const stall = new StallDetector(0)
    stall.responded(1000, 2000)
    expect([stall.since, stall.sinceBefore(3000, 2000), stall.sinceBefore(3001, 2000)]).toEqual([
      undefined,
      undefined,
      2000,
    ])
  })
})
