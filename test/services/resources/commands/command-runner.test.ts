import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { Rights } from '../../../../src/kernel/rights.ts'
import type { Json } from '../../../../src/kernel/json.ts'
import { COMMAND_JOBS, COMMAND_LOG, commandPage } from '../../../../src/services/resources/commands/command-log.ts'
import { CommandRunner } from '../../../../src/services/resources/commands/command-runner.ts'
import type { ActuatorCall, ResourceEntity } from '../../../../src/services/resources/contract.ts'
import { MemoryDisk } from '../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { Mortal } from './support/mortal.ts'

const TENANT = 'acme'
const NOON = Date.UTC(2026, 10, 20, 12)
type Call = Parameters<ActuatorCall['run']>[0]
type Outcome = Awaited<ReturnType<ActuatorCall['run']>>

/** A store with commands to resources, and an actuator that answers when the test says so. */
class Bench {
  readonly #disk = new MemoryDisk()
  storage = this.#opened()
  readonly calls: Call[] = []
  readonly open = new Map<string, (outcome: Outcome | Error) => void>()
  readonly timers = new Set<{ readonly at: number; readonly work: () => void }>()
  readonly resources = new Map<string, ResourceEntity>()
  readonly rights = new Map<string, Rights>()
  life = new Mortal()
  now = NOON
  #ids = 0
  isAtOnce = true
  runner = this.#runner()

  async again(): Promise<void> {
    this.life.kill()
    this.life = new Mortal()
    this.timers.clear()
    this.runner = this.#runner()
    await this.runner.start()
  }

  /** Closes the store of the ended life, and opens it again. */
  async reopen(): Promise<void> {
    await this.storage.close()
    this.storage = this.#opened()
  }

  #opened() {
    return openMemory({ disk: this.#disk, clock: () => this.now })
  }

  async send(resource: string, name: string, more: Record<string, Json> = {}, hops = 0): Promise<void> {
    const { runner } = this
    await this.plan(resource, name, more, hops)
    runner.committed(resource)
  }

  /** Commits a command without notifying the runner. */
  async plan(resource: string, name: string, more: Record<string, Json> = {}, hops = 0): Promise<void> {
    const command = { name, timestamp: NOON, ...more }
    await this.storage.tenant(TENANT).commit(this.runner.planning(resource, command, hops))
  }

  /** Advances the clock, and runs what becomes due. */
  advance(ms: number): void {
    this.now += ms
    for (const timer of [...this.timers].toSorted((a, b) => a.at - b.at)) {
      if (timer.at <= this.now && this.timers.delete(timer)) timer.work()
    }
  }

  async log(resource: string, query = {}) {
    return (await commandPage(this.storage.tenant(TENANT), resource, query)).values
  }

  #runner(): CommandRunner {
    const { life } = this
    const actuators: ActuatorCall = {
      run: (call) => {
        this.calls.push(call)
        if (call.name === 'missing') throw new AppError('NOT_FOUND', 'Actuator missing not found')
        const done = { version: '2.0.0', success: true, message: 'done', rawData: { n: this.calls.length } }
        if (this.isAtOnce) return Promise.resolve(done)
        return new Promise((resolve, reject) => {
          this.open.set(call.resource, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)))
        })
      },
    }
    return new CommandRunner({
      store: life.over(this.storage).tenant(TENANT),
      actuators: life.over(actuators),
      lookup: (id) => this.resources.get(id),
      rightsOf: async (id) => this.rights.get(id),
      now: () => this.now,
      newId: () => `n${this.#ids++}`,
      later: (ms, work) => {
        const timer = { at: this.now + ms, work: () => (life.isDead ? undefined : work()) }
        this.timers.add(timer)
        return () => this.timers.delete(timer)
      },
    })
  }
}

const commands = [
  { open: { actuator: { name: 'valve', properties: { to: '{{ip}}' } } } },
  { odd: { actuator: { name: 'missing' } } },
]
const pump = (id: string): ResourceEntity => ({ id, ip: `ip of ${id}`, commands })

async function bench(ids: readonly string[]): Promise<Bench> {
  const made = new Bench()
  for (const id of ids) made.resources.set(id, pump(id))
  await made.runner.start()
  return made
}

const ok: Outcome = { version: '2.0.0', success: true }

// Holds COMMAND-1 to COMMAND-4
describe('a command', () => {
  it('runs the mapped actuator for the resource, and is written down', async () => {
    const b = await bench(['p1'])
    await b.send('p1', 'open', { speed: 3 }, 2)
    await b.runner.idle()
    expect(b.calls).toMatchObject([
      { name: 'valve', version: 'latest', properties: { to: 'ip of p1', speed: 3 }, resource: 'p1', hops: 2 },
    ])
    expect(await b.log('p1')).toEqual([
      {
        name: 'open',
        executionTime: '2026-11-20T12:00:00.000Z',
        actuator: 'valve:2.0.0',
        result: { success: true, message: 'done', rawData: { n: 1 } },
      },
    ])
  })

  it('has the rights of who stored it', async () => {
    const b = await bench(['p1', 'p2'])
    const rights: Rights = { scopes: ['author'] }
    b.rights.set('p1', rights)
    for (const id of ['p1', 'p2']) await b.send(id, 'open', {})
    await b.runner.idle()
    expect(b.calls.map((call) => [call.resource, call.rights])).toEqual([
      ['p1', rights],
      ['p2', undefined],
    ])
  })

  it('comes after those of a life before, although the clock was set back meanwhile', async () => {
    const b = await bench(['p1'])
    b.isAtOnce = false
    for (const speed of [1, 2, 3]) await b.send('p1', 'open', { speed })
    await expect.poll(() => b.open.size).toBe(1)
    b.life.kill()
    await b.reopen()
    b.now -= 3_600_000
    await b.again()
    await expect.poll(() => b.calls.length).toBe(2)
    await b.send('p1', 'open', { speed: 4 })
    await b.send('p1', 'open', { speed: 5 })
    b.isAtOnce = true
    b.open.get('p1')?.(ok)
    await b.runner.idle()
    expect(b.calls.slice(1).map(({ properties }) => properties['speed'])).toEqual([1, 2, 3, 4, 5])
    b.now -= 3_600_000
    // all are done, in the order of the log
    await b.again()
    await b.send('p1', 'open', { speed: 6 })
    await b.runner.idle()
    const orders = await b.storage
      .tenant(TENANT)
      .collection(COMMAND_LOG)
      .find({ sort: [{ field: 'order' }] })
    const { calls } = b
    expect(orders.map(({ id }) => id)).toEqual(calls.slice(1).map(({ id }) => id))
  })

  it.each([
    ['of a resource that does not exist', 'nobody', 'open', "Resource 'nobody' not found"],
    ['that the resource does not have', 'p1', 'close', "Command 'close' not found for resource 'p1'"],
    ['whose actuator does not exist', 'p1', 'odd', 'Actuator missing not found'],
  ])('%s is written down with the reason', async (_what, resource, name, errorMessage) => {
    const b = await bench(['p1'])
    await b.send(resource, name)
    await b.runner.idle()
    expect(await b.log(resource)).toEqual([{ name, executionTime: '2026-11-20T12:00:00.000Z', errorMessage }])
  })

  it('waits for the one before of the same resource, and not for those of others', async () => {
    const b = await bench(['p1', 'p2'])
    b.isAtOnce = false
    await b.send('p1', 'open', { n: 1 })
    await b.send('p1', 'open', { n: 2 })
    await b.send('p2', 'open', { n: 3 })
    await expect.poll(() => b.calls.map(({ properties }) => properties['n'])).toEqual([1, 3])
    b.open.get('p2')?.(ok)
    await expect.poll(async () => (await b.log('p2')).length).toBe(1)
    expect(b.calls).toHaveLength(2)
    b.open.get('p1')?.(ok)
    await expect.poll(() => b.calls.map(({ properties }) => properties['n'])).toEqual([1, 3, 2])
    b.open.get('p1')?.(new Error('it leaks'))
    await b.runner.idle()
    expect(await b.log('p1')).toMatchObject([{ errorMessage: 'it leaks' }, { result: { success: true } }])
  })

  it('that was under way in a crash is carried out again under the same id, once its lease is over', async () => {
    const b = await bench(['p1'])
    b.isAtOnce = false
    await b.send('p1', 'open', { n: 1 })
    await b.send('p1', 'open', { n: 2 })
    await expect.poll(() => b.calls.length).toBe(1)
    await b.again()
    b.isAtOnce = true
    await b.runner.idle()
    expect(b.calls).toHaveLength(1)
    b.advance(15_000)
    await expect.poll(async () => (await b.log('p1')).length).toBe(2)
    expect(b.calls.map(({ properties }) => properties['n'])).toEqual([1, 1, 2])
    expect(b.calls[1]?.id).toBe(b.calls[0]?.id)
    expect(b.calls[2]?.id).not.toBe(b.calls[0]?.id)
  })

  it('that was under way in a crash is carried out at once where no other host has the store, though the clock was set back', async () => {
    const b = await bench(['p1'])
    b.isAtOnce = false
    await b.send('p1', 'open')
    await expect.poll(() => b.calls.length).toBe(1)
    b.life.kill()
    await b.reopen()
    b.now -= 3_600_000
    b.isAtOnce = true
    await b.again()
    await b.runner.idle()
    expect(await b.log('p1')).toHaveLength(1)
    expect(b.calls[1]?.id).toBe(b.calls[0]?.id)
  })

  it('that takes long keeps its lease', async () => {
    const b = await bench(['p1'])
    b.isAtOnce = false
    await b.send('p1', 'open')
    await expect.poll(() => b.calls.length).toBe(1)
    const jobs = b.storage.tenant(TENANT).collection(COMMAND_JOBS)
    for (let round = 1; round <= 4; round++) {
      b.advance(5000)
      await expect.poll(async () => (await jobs.find({}))[0]?.version).toBe(round + 2)
    }
    b.open.get('p1')?.(ok)
    await b.runner.idle()
    expect(await jobs.count()).toBe(0)
  })

  it('that was committed without a notification is carried out at the next start', async () => {
    const b = await bench(['p1'])
    await b.plan('p1', 'open')
    await b.again()
    await b.runner.idle()
    expect(await b.log('p1')).toHaveLength(1)
  })

  it.each(['CLOSED', 'UNAVAILABLE'] as const)('waits while no service can run actuators: %s', async (code) => {
    const b = await bench(['p1'])
    b.isAtOnce = false
    await b.send('p1', 'open')
    await expect.poll(() => b.open.size).toBe(1)
    b.open.get('p1')?.(new AppError(code, 'not yet'))
    await b.runner.idle()
    expect(await b.log('p1')).toEqual([])
    b.isAtOnce = true
    b.advance(2000)
    await expect.poll(async () => (await b.log('p1')).length).toBe(1)
  })
})

describe('the log of commands', () => {
  it('shows the newest first, in pages, and keeps a thousand of a resource', async () => {
    const b = await bench(['p1'])
    for (let n = 0; n < 1300; n++) await b.send('p1', 'open', { n })
    await b.runner.idle()
    const page = await commandPage(b.storage.tenant(TENANT), 'p1', { limit: '2', skip: '1' })
    expect(page).toMatchObject({ skip: 1, limit: 2 })
    expect(page.values).toMatchObject([{ result: { rawData: { n: 1299 } } }, { result: { rawData: { n: 1298 } } }])
    expect(page.total).toBeGreaterThanOrEqual(1000)
    expect(page.total).toBeLessThan(1200)
  })
})
