/** Provides a disk that survives runners, runners that die at a commit, and rules whose every step is visible. */
import { definePlug } from '../../../../../src/core/plug/define.ts'
import {
  VirtualClock,
  type EngineEvent,
  type Plug,
  type PlugResult,
  type Ports,
  type Rule,
  type TaskSettings,
} from '../../../../../src/index.ts'
import type { Generate } from '../../../../../src/core/spi.ts'
import { AppError } from '../../../../../src/kernel/errors.ts'
import {
  type DurableOptions,
  type DurableRunner,
  openDurableRunner,
} from '../../../../../src/services/rules/durable/durable-runner.ts'
import { STATES } from '../../../../../src/services/rules/durable/records.ts'
import type { EndedRun, IntakePost, RunnableTask } from '../../../../../src/services/rules/runner.ts'
import type { Storage, Store } from '../../../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../../src/storage/memory/open-memory.ts'

export const TENANT = 'acme'

export function runnableOf(id: string, source: Rule, settings: TaskSettings = {}, epoch = 1): RunnableTask {
  return { id, epoch, createTime: 0, source, settings: { name: id, ...settings } }
}

interface OpenCall {
  readonly id: string
  settle(error?: string): void
}

/** Records calls of actuators, and answers them. */
export class Outside {
  /** Ids of effects, in the order of the calls */
  readonly calls: string[] = []
  #open: OpenCall[] = []
  /** Whether `send` answers at the next moment, or when the test lets it */
  answersAtOnce = true

  readonly plugs: readonly Plug[] = [
    definePlug({
      name: 'level',
      version: '1.0.0',
      kind: 'sensor',
      states: ['LOW', 'HIGH'],
      execute: (context) => {
        const level = context.streamValue('level')
        if (typeof level !== 'number') return undefined
        return { state: level > 10 ? 'HIGH' : 'LOW', rawData: { level, dice: context.random() } }
      },
    }),
    definePlug({
      name: 'bound',
      version: '1.0.0',
      kind: 'sensor',
      states: ['LOW', 'HIGH'],
      execute: (context) => (Number(context.streamValue('level')) > 10 ? 'HIGH' : 'LOW'),
    }),
    definePlug({
      name: 'count',
      version: '1.0.0',
      kind: 'sensor',
      states: ['EVEN', 'ODD'],
      execute: (context) => {
        const seen = typeof context.internalState === 'number' ? context.internalState + 1 : 1
        return { state: seen % 2 === 0 ? 'EVEN' : 'ODD', internalState: seen, rawData: { seen } }
      },
    }),
    definePlug({
      name: 'ask',
      version: '1.0.0',
      kind: 'sensor',
      states: ['NO', 'YES'],
      execute: async (context) => {
        await Promise.resolve()
        return { state: context.streamValue('level') === 13 ? 'YES' : 'NO', rawData: { at: context.now } }
      },
    }),
    definePlug({
      name: 'send',
      version: '1.0.0',
      kind: 'actuator',
      input: { text: { type: 'string' } },
      execute: (context) => {
        this.calls.push(context.id)
        return new Promise<PlugResult<never>>((resolve, reject) => {
          const settle = (error?: string) =>
            error === undefined ? resolve({ message: `sent ${context.id}` }) : reject(new Error(error))
          if (this.answersAtOnce) settle()
          else this.#hold({ id: context.id, settle }, context.signal)
        })
      },
    }),
    definePlug({
      name: 'heard',
      version: '1.0.0',
      kind: 'sensor',
      channel: 'alarm',
      states: ['HEARD'],
      execute: (context) => ({ state: 'HEARD', rawData: { level: context.streamValue('level'), hops: context.hops } }),
    }),
    definePlug({ name: 'note', version: '1.0.0', kind: 'actuator', execute: () => ({ message: 'noted' }) }),
  ]

  get open(): readonly string[] {
    return this.#open.map(({ id }) => id)
  }

  /** Answers the open calls with an id. */
  answer(id: string, error?: string): void {
    for (const call of this.#open) if (call.id === id) call.settle(error)
    this.#open = this.#open.filter((call) => call.id !== id)
  }

  #hold(call: OpenCall, signal: AbortSignal): void {
    this.#open.push(call)
    signal.addEventListener('abort', () => (this.#open = this.#open.filter((other) => other !== call)))
  }

  /** Forgets open calls, whose process has ended. */
  forget(): void {
    this.#open = []
  }
}

export interface LifeOptions {
  /** Epoch ms of the start */
  readonly at?: number
  /** Number of commits that reach the disk; later ones are lost and never acknowledged */
  readonly commits?: number
  readonly checkpointMs?: number
  /** Plugs instead of the recorded ones */
  readonly plugs?: readonly Plug[]
  readonly ports?: Ports
  /** Default: a separate log */
  readonly log?: DurableOptions['log']
  readonly maxWaitingMessages?: number
  readonly maxWaiting?: number
  readonly maxRemembered?: number
  readonly keepInputs?: DurableOptions['keepInputs']
  /** tasks may be rows */
  readonly generate?: Generate | undefined
  /** Receives log entries */
  readonly told?: (message: string, details: object) => void
  /** Called before stored states of tasks are read */
  readonly recalling?: (tasks: readonly string[]) => Promise<void>
}

/** The parts that survive a crash, on any medium. */
export interface AnyGround {
  readonly outside: Outside
  open(options?: LifeOptions): Life | Promise<Life>
}

/** The parts that survive a crash, on a medium that opens slowly. */
export class SlowGround implements AnyGround {
  readonly outside = new Outside()
  readonly #open: () => Promise<Storage>

  constructor(open: () => Promise<Storage>) {
    this.#open = open
  }

  async open(options: LifeOptions = {}): Promise<Life> {
    return new Life(await this.#open(), this.outside, options)
  }
}

/** The parts that survive a crash, in memory. */
export class Ground implements AnyGround {
  readonly outside = new Outside()
  readonly #disk = new MemoryDisk()

  open(options: LifeOptions = {}): Life {
    return new Life(openMemory({ disk: this.#disk }), this.outside, options)
  }
}

const toldAs =
  (told: NonNullable<LifeOptions['told']>) =>
  (message: string, details: object = {}): void =>
    told(message, details)

/** One runner, from its start until its end or crash. */
export class Life {
  readonly clock: VirtualClock
  readonly runner: DurableRunner
  readonly storage: Storage
  readonly ended: EndedRun[] = []
  commits = 0
  #isDead = false
  readonly #most: number
  readonly #outside: Outside

  constructor(storage: Storage, outside: Outside, options: LifeOptions) {
    this.storage = storage
    this.clock = new VirtualClock(options.at ?? 0)
    this.#most = options.commits ?? Number.POSITIVE_INFINITY
    this.#outside = outside
    this.runner = openDurableRunner({
      store: this.#mortal(storage.tenant(TENANT), options.recalling),
      plugs: () => options.plugs ?? outside.plugs,
      scheduler: this.clock,
      ...(options.log && { log: options.log }),
      ports: options.ports ?? {},
      ...(options.told && { logger: { warn: toldAs(options.told), error: toldAs(options.told) } }),
      ...(options.keepInputs && { keepInputs: options.keepInputs }),
      ...(options.generate && { generate: options.generate }),
      ...(options.maxWaiting !== undefined && { maxWaiting: options.maxWaiting }),
      ...(options.maxRemembered !== undefined && { maxRemembered: options.maxRemembered }),
      ...(options.maxWaitingMessages !== undefined && { maxWaitingMessages: options.maxWaitingMessages }),
      ...(options.checkpointMs !== undefined && {
        checkpoints: { inputMs: options.checkpointMs, soonMs: options.checkpointMs },
      }),
    })
    this.runner.reports.ended$.subscribe((run) => this.ended.push(run))
  }

  get isDead(): boolean {
    return this.#isDead
  }

  async begin(task: RunnableTask): Promise<void> {
    const plan = await this.runner.plan({ kind: 'begin', task })
    await plan.apply()
  }

  async change(task: RunnableTask, before: RunnableTask): Promise<void> {
    await (await this.runner.plan({ kind: 'change', task, before })).apply()
  }

  async end(id: string, epoch = 1): Promise<void> {
    await (await this.runner.plan({ kind: 'end', id, epoch })).apply()
  }

  async forget(id: string): Promise<void> {
    const plan = await this.runner.plan({ kind: 'forget', id })
    await this.storage.tenant(TENANT).commit(plan.writes)
    await plan.apply()
  }

  async send(
    resource: string,
    values: Record<string, unknown>,
    options?: Omit<IntakePost, 'messages'>,
  ): Promise<boolean> {
    return (await this.runner.intake.receive([{ messages: { resource, ...values }, ...options }])).taken
  }

  /** Advances the clock through everything due, and lets promises and commits settle at each instant. */
  async to(time: number): Promise<void> {
    for (let at = this.clock.nextAt(); at !== undefined && at <= time; at = this.clock.nextAt()) {
      this.clock.advanceTo(at)
      await this.rest()
    }
    this.clock.advanceTo(time)
    await this.rest()
  }

  /** Waits until nothing changes any more. */
  async rest(): Promise<void> {
    for (let listening = 0; listening < 3 && !this.#isDead; listening++) {
      const { commits } = this
      await new Promise((resolve) => void setImmediate(resolve))
      if (this.runner.queued > 0 || this.commits !== commits) listening = -1
    }
  }

  /** Returns everything visible about a task. */
  look(id: string): unknown {
    const { nodes } = this.runner
    const info = nodes.info(id)
    return JSON.parse(JSON.stringify({ info, view: nodes.view(id) }))
  }

  /** Collects a task's events from now on. */
  events(id: string): EngineEvent[] {
    const events: EngineEvent[] = []
    this.runner.reports.watch(id).subscribe((event) => events.push(event))
    return events
  }

  /** Ends the process: nothing reaches the disk any more. */
  async crash(): Promise<void> {
    this.#isDead = true
    this.#outside.forget()
    await this.storage.close()
  }

  async close(): Promise<void> {
    await this.runner.close()
    await this.storage.close()
  }

  #mortal(store: Store, recalling?: LifeOptions['recalling']): Store {
    const die = <T>(): Promise<T> => {
      this.#isDead = true
      return Promise.reject(new AppError('CLOSED', 'the process is gone'))
    }
    return {
      collection: (spec) => {
        const collection = store.collection(spec)
        if (recalling === undefined || spec.name !== STATES.name) return collection
        const getMany: typeof collection.getMany = async (ids) => {
          await recalling(ids)
          return collection.getMany(ids)
        }
        return { ...collection, getMany }
      },
      log: (name) => {
        const log = store.log(name)
        const trim = (upTo: number) => (this.#isDead ? die<void>() : log.trim(upTo))
        return {
          name: log.name,
          append: (bodies) => log.append(bodies),
          appending: (bodies) => log.appending(bodies),
          read: (after, limit) => log.read(after, limit),
          bounds: () => log.bounds(),
          trim,
        }
      },
      series: store.series,
      blobs: store.blobs,
      commit: (writes) => {
        if (this.#isDead || this.commits >= this.#most) return die()
        this.commits++
        return store.commit(writes)
      },
      now: () => (this.#isDead ? die() : store.now()),
    }
  }
}
