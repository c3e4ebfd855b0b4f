/** Runs a rule step by step in virtual time for a request; secrets are unavailable, because the caller sees the results. */
import type { EngineEvent, Message, Plug, Ports, Rule, Sent, StartSettings, Task, Template } from '#core'
import { Playback } from '#core/spi'
import { AppError, ownValue } from '#kernel'
import { machineTimers } from '#platform'
import { RunBudget } from './run-budget.ts'
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
  readonly #playback: Playback
  readonly #budget: RunBudget

  constructor(rule: Rule | Template, settings: StartSettings, options: VirtualRunOptions) {
    const { plugs, ports, metadata, from, id = machineTimers.newId(), onEvent, signal } = options
    this.#budget = new RunBudget(signal)
    const playback = {
      plugs,
      ports: portsForCaller(ports, metadata),
      breathe: () => this.#budget.breathe(this.now),
      patience: this.#budget.patience,
    }
    const lane = { rule, settings: { ...settings, id }, onEvent }
    this.#playback = new Playback([lane], playback, { runsAtStart: false }, from)
  }

  /** epoch ms */
  get now(): number {
    return this.#playback.now
  }

  /** Like `engine.start`, but work that is due immediately has not happened yet. */
  async start(): Promise<Task> {
    await this.#counted(() => this.#playback.start())
    const [task] = this.#playback.tasks
    if (task === undefined) throw new AppError('CLOSED', 'the run has not started')
    return task
  }

  receive(messages: Message | readonly Message[], sent?: Sent): void {
    this.#counted(() => this.#playback.receive(messages, sent))
  }

  /** Does all work due until `time`, and waits for slow plugs. Monotonic. */
  advanceTo(time: number): Promise<void> {
    return this.#counted(async () => {
      if (this.#playback.mustWait) await this.#playback.wait()
      this.#budget.requireRest(this.now)
      await this.#playback.advanceTo(time)
    })
  }

  nextAt(): number | undefined {
    return this.#playback.nextAt()
  }

  close(): Promise<void> {
    return this.#playback.close()
  }

  #counted<T>(does: () => T): T {
    return countingScripts(this.#budget.scripts, does)
  }
}
