/** A disk with jobs on it, hosts that start and crash over it, and a clock that the test moves. */
import { setImmediate as turn } from 'node:timers/promises'
import type { JobHandler, JobTimers } from '../../../src/jobs/contract.ts'
import type { JobQueue, PlacedEvent } from '../../../src/jobs/job-queue.ts'
import { JobRunner } from '../../../src/jobs/job-runner.ts'
import { nextSeed, randomOf } from '../../../src/kernel/random.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { Mortal } from '../../services/resources/commands/support/mortal.ts'

export const TENANT = 'acme'
export const NOON = Date.UTC(2026, 10, 20, 12)

export interface JobHost {
  readonly runner: JobRunner
  readonly queue: JobQueue
  readonly life: Mortal
  readonly log: readonly string[]
}

interface Timer {
  readonly at: number
  readonly life: Mortal
  readonly work: () => void
}

export class JobWorld {
  /** epoch ms, of the store */
  now = NOON
  /** error of a host's clock, ms */
  skew = 0
  /** change of the store's clock, ms */
  storeSkew = 0
  readonly #disk = new MemoryDisk()
  readonly #isShared: boolean
  storage: Storage
  readonly #timers = new Set<Timer>()
  #ids = 0
  #seed = 1

  /** `isShared`: several hosts may have the store open */
  constructor({ isShared = false } = {}) {
    this.#isShared = isShared
    this.storage = this.#open()
  }

  /** pending timers of a host */
  timersOf(host: JobHost): number {
    return [...this.#timers].filter(({ life }) => life === host.life).length
  }

  /** Another host over the same store. */
  host(handlers: readonly JobHandler[]): JobHost {
    const life = new Mortal()
    const log: string[] = []
    const timers: JobTimers = {
      later: (ms, work) => {
        const timer = { at: this.now + ms, life, work }
        this.#timers.add(timer)
        return () => this.#timers.delete(timer)
      },
      breathe: () => (life.isDead ? new Promise(() => undefined) : turn()),
      random: () => randomOf((this.#seed = nextSeed(this.#seed))),
    }
    const runner = new JobRunner({
      tenant: TENANT,
      store: life.over(this.storage).tenant(TENANT),
      handlers,
      now: () => this.now + this.skew,
      newId: () => `j${++this.#ids}`,
      timers,
      logger: { warn: (text) => void log.push(text), error: (text) => void log.push(text) },
    })
    return { runner, life, log, queue: runner.queue }
  }

  /** Advances the clock, and runs due work in order. */
  async advance(ms: number): Promise<void> {
    await this.#advance(ms, undefined)
  }

  /** The same while one host is frozen: its timers are late. */
  async advanceWithout(life: Mortal, ms: number): Promise<void> {
    await this.#advance(ms, life)
  }

  async #advance(ms: number, frozen: Mortal | undefined): Promise<void> {
    const end = this.now + ms
    for (;;) {
      await this.settle()
      const moving = [...this.#timers].filter(({ at, life }) => at <= end && life !== frozen)
      const [due] = moving.toSorted((a, b) => a.at - b.at)
      if (due === undefined) break
      this.#timers.delete(due)
      this.now = Math.max(this.now, due.at)
      if (!due.life.isDead) due.work()
    }
    this.now = end
    await this.settle()
  }

  /** Settles all promises that do not depend on further events. */
  async settle(): Promise<void> {
    for (let i = 0; i < 12; i++) await turn()
  }

  /** Simulates a crash of the machine: all open handles are lost. */
  async reopen(): Promise<void> {
    this.#timers.clear()
    await this.storage.close()
    this.storage = this.#open()
  }

  #open(): Storage {
    const storage = openMemory({ disk: this.#disk, clock: () => this.now + this.storeSkew })
    return this.#isShared ? withoutSessions(storage) : storage
  }
}

function withoutSessions(storage: Storage): Storage {
  const tenant: Storage['tenant'] = (id) => {
    const store = storage.tenant(id)
    return {
      collection: (spec) => store.collection(spec),
      log: (name) => store.log(name),
      series: store.series,
      blobs: store.blobs,
      commit: (writes) => store.commit(writes),
      now: async () => ({ ms: (await store.now()).ms }),
    }
  }
  return { ...storage, tenant }
}

/** Content of the log so far. */
export async function eventsOf(queue: JobQueue): Promise<readonly PlacedEvent[]> {
  const { last } = await queue.documents.log.bounds()
  const found: PlacedEvent[] = []
  if (last === 0) return found
  const ending = new AbortController()
  for await (const event of queue.events({ after: 0, signal: ending.signal })) {
    found.push(event)
    if (event.position === last) ending.abort()
  }
  return found
}
