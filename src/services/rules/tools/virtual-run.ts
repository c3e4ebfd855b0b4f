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
import { AppError, ownValue } from '#kernel'
import { machineTimers } from '#platform'
import { PATIENCE_MS, RunBudget } from './run-budget.ts'
import { countingScripts } from './script-work.ts'

export interface VirtualRunOptions {
  readonly plugs: readonly Plug[]
  readonly ports: Ports
  /** metadata by resource; takes precedence over metadata from the ports */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** epoch ms at which the clock starts */
  readonly from: number
  /** task id, which becomes part of the ids of effects. Default: a unique id, since services act only once per id */
  readonly id?: string
  readonly onEvent: (event: EngineEvent) => void
  readonly signal?: AbortSignal
}

/** Secrets are rejected, because the caller sees the results. `metadata` takes precedence over that of the ports. */
export function portsForCaller(ports: Ports, metadata: Readonly<Record<string, unknown>> = {}): Ports {
  return {
    ...ports,
    secret: notHere,
    metadata: (resource) => {
      const value = ownValue(metadata, resource)
      return value === undefined ? ports.metadata?.(resource) : (value as Readonly<Record<string, unknown>>)
    },
  }
}

function notHere(key: string): never {
  throw new AppError(
    'BINDING',
    `vault.${key} can only be read by tasks, not by single calls of plugs, runs and simulations`,
  )
}

export class VirtualRun {
  readonly #clock: VirtualClock
  readonly #engine: CoreEngine
  readonly #signal: AbortSignal | undefined
  readonly #budget: RunBudget

  constructor({ plugs, ports, metadata, from, id = machineTimers.newId(), onEvent, signal }: VirtualRunOptions) {
    this.#clock = new VirtualClock(from)
    this.#signal = signal
    this.#budget = new RunBudget(signal)
    this.#engine = new CoreEngine({
      plugs,
      scheduler: this.#clock,
      ids: () => id,
      seed: 1,
      ports: portsForCaller(ports, metadata),
    })
    this.#engine.events$.subscribe(onEvent)
  }

  /** epoch ms */
  get now(): number {
    return this.#clock.now()
  }

  /** Like `engine.start`, but work that is due immediately has not happened yet. */
  start(rule: Rule | Template, settings: StartSettings): Promise<Task> {
    return countingScripts(this.#budget.scripts, () => this.#engine.start(rule, { ...settings, start: true }))
  }

  receive(messages: Message | readonly Message[], sent?: Sent): boolean {
    return countingScripts(this.#budget.scripts, () => this.#engine.receive(messages, sent))
  }

  /** Does all work due until `time`, and waits for slow plugs. Monotonic. */
  advanceTo(time: number): Promise<void> {
    return countingScripts(this.#budget.scripts, () => this.#advanceTo(time))
  }

  async #advanceTo(time: number): Promise<void> {
    await this.settled()
    this.#budget.requireRest(this.now)
    for (let at = this.#clock.nextAt(); at !== undefined && at <= time; at = this.#clock.nextAt()) {
      this.#clock.advanceTo(at)
      if (this.#engine.openCalls > 0) await this.settled()
      const breath = this.#budget.breathe(this.now)
      if (breath !== undefined) await breath
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
    while (
      this.#engine.openCalls > 0 &&
      this.#budget.scripts.open > 0 &&
      this.#signal?.aborted !== true &&
      !this.#budget.isOverdue
    )
    this.#engine.giveUp()
    this.#budget.waited()
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
}
