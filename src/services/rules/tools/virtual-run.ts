/** Runs a rule in virtual time for a request; secrets are unavailable, because the caller sees the results. */
import {
  CoreEngine,
  type EngineEvent,
  type Message,
  type Plug,
  type Ports,
  type Rule,
  type Sent,
  type StartSettings,
  type Task,
  type Template,
  VirtualClock,
} from '#core'
import { AppError, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { countingScripts, type ScriptWork } from './script-work.ts'

export interface VirtualRunOptions {
  readonly plugs: readonly Plug[]
  readonly ports: Ports
  /** metadata by resource; takes precedence over metadata from the ports */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** epoch ms at which the clock starts */
  readonly from: number
  readonly seed?: number
  /** task id, which becomes part of the ids of effects. Default: a unique id, since services act only once per id */
  readonly id?: string
  readonly onEvent: (event: EngineEvent) => void
  readonly signal?: AbortSignal
}

const MAX_WORK_MS = 20_000
const PATIENCE_MS = 10_000

function notHere(key: string): never {
  throw new AppError(
    'BINDING',
    `vault.${key} is read by tasks alone, and not by calls of one plug, runs and simulations`,
  )
}

export class VirtualRun {
  readonly #clock: VirtualClock
  readonly #engine: CoreEngine
  readonly #signal: AbortSignal | undefined
  readonly #yielder = new Yielder(machineTimers)
  #worked = 0
  readonly #scripts: ScriptWork = { open: 0, took: 0 }

  constructor({
    plugs,
    ports,
    metadata = {},
    from,
    seed = 1,
    id = machineTimers.newId(),
    onEvent,
    signal,
  }: VirtualRunOptions) {
    this.#clock = new VirtualClock(from)
    this.#signal = signal
    this.#engine = new CoreEngine({
      plugs,
      scheduler: this.#clock,
      ids: () => id,
      seed,
      ports: {
        ...ports,
        secret: notHere,
        metadata: (resource) => {
          const value: unknown = Object.hasOwn(metadata, resource) ? metadata[resource] : undefined
          return value === undefined ? ports.metadata?.(resource) : (value as Readonly<Record<string, unknown>>)
        },
      },
    })
    this.#engine.events$.subscribe(onEvent)
  }

  /** epoch ms */
  get now(): number {
    return this.#clock.now()
  }

  /** Like `engine.start`, but work that is due immediately has not happened yet. */
  start(rule: Rule | Template, settings: StartSettings): Promise<Task> {
    return countingScripts(this.#scripts, () => this.#engine.start(rule, { ...settings, start: true }))
  }

  receive(messages: Message | readonly Message[], sent?: Sent): boolean {
    return countingScripts(this.#scripts, () => this.#engine.receive(messages, sent))
  }

  /** Does all work due until `time`, and waits for slow plugs. Monotonic. */
  advanceTo(time: number): Promise<void> {
    return countingScripts(this.#scripts, () => this.#advanceTo(time))
  }

  async #advanceTo(time: number): Promise<void> {
    await this.settled()
    this.#requireRest()
    for (let at = this.#clock.nextAt(); at !== undefined && at <= time; at = this.#clock.nextAt()) {
      this.#clock.advanceTo(at)
      if (this.#engine.openCalls > 0) await this.settled()
      await this.#breathe()
    }
    if (time > this.now) this.#clock.advanceTo(time)
  }

  nextAt(): number | undefined {
    return this.#clock.nextAt()
  }

  /** Waits for running plugs, up to a limit. Scripts end by themselves after their time slice. */
  async settled(): Promise<void> {
    if (this.#engine.openCalls === 0) return
    do await this.#wait()
    while (this.#engine.openCalls > 0 && this.#scripts.open > 0 && this.#signal?.aborted !== true && !this.#isOverdue)
    this.#engine.giveUp()
    this.#yielder.restart()
  }

  async #wait(): Promise<void> {
    let giveUp: () => void = () => undefined
    const patience = new Promise<void>((resolve) => {
      const cancel = machineTimers.later(PATIENCE_MS, resolve)
      giveUp = () => {
        cancel()
        resolve()
      }
    })
    this.#signal?.addEventListener('abort', giveUp, { once: true })
    await Promise.race([this.#engine.settled(), patience])
    giveUp()
    this.#signal?.removeEventListener('abort', giveUp)
  }

  close(): Promise<void> {
    return this.#engine.close()
  }

  async #breathe(): Promise<void> {
    if (!this.#yielder.isOver) return
    this.#worked += this.#yielder.spent
    this.#requireRest()
    await this.#yielder.next()
    if (this.#signal?.aborted === true) throw new AppError('CLOSED', 'the client of the run has disconnected')
  }

  get #isOverdue(): boolean {
    return this.#worked + this.#scripts.took > MAX_WORK_MS
  }

  #requireRest(): void {
    if (!this.#isOverdue) return
    throw new AppError(
      'TOO_LARGE',
      `the run worked for ${MAX_WORK_MS / 1000} s and reached ${new Date(this.now).toISOString()}; request less time, fewer messages or a slower clock`,
    )
  }
}
