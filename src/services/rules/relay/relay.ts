/** The relay of one partition: receives and sends messages, and keeps what the partition listens to. */
import type { Partition } from '#cluster'
import type { Logger } from '#kernel'
import type { Store } from '#storage'
import type { DataIntake } from '../runner.ts'
import { Listeners } from './listeners.ts'
import { Listening } from './listening.ts'
import { RelayReader } from './relay-reader.ts'
import { relayingIntake } from './relaying-intake.ts'

export interface RelayOptions {
  readonly tenant: string
  readonly store: Store
  readonly partition: Partition
  readonly intake: DataIntake
  /** Called after a message was sent to that partition. Must not wait. */
  readonly handed: (partition: number) => void
  /** repeats `work` until the returned function is called */
  readonly every: (work: () => void) => () => void
  readonly logger?: Logger | undefined
}

export class Relay {
  readonly intake: DataIntake
  readonly #options: RelayOptions
  readonly #reader: RelayReader
  #home: Promise<DataIntake> | undefined
  #listening: Promise<Listening> | undefined
  #endLooking: () => void = () => undefined
  #isStarted = false

  constructor(options: RelayOptions) {
    const { tenant, store, partition, intake: tasks, logger } = options
    this.#options = options
    this.intake = { receive: async (...args) => (await this.#opened()).receive(...args) }
    this.#reader = new RelayReader({ tenant, store, number: partition.number, home: this.intake, tasks, logger })
  }

  /** Call before a task is bound to the resources. Resolves once this partition receives their messages. */
  async bind(resources: readonly string[]): Promise<void> {
    await (await this.#listeningOpened()).listen(resources)
  }

  async start(): Promise<void> {
    await (await this.#listeningOpened()).sweep()
    this.#isStarted = true
    this.#endLooking = this.#options.every(() => this.#reader.wake())
    this.#reader.wake()
  }

  /** Ignored before `start`: tasks that are not resumed yet would miss the message. */
  wake(): void {
    if (this.#isStarted) this.#reader.wake()
  }

  idle(): Promise<void> {
    return this.#reader.idle()
  }

  async stop(): Promise<void> {
    this.#endLooking()
    await this.#reader.stop()
  }

  #opened(): Promise<DataIntake> {
    const { store, partition } = this.#options
    this.#home ??= Listeners.open(store, partition).then((listeners) => relayingIntake({ ...this.#options, listeners }))
    this.#home.catch(() => (this.#home = undefined))
    return this.#home
  }

  #listeningOpened(): Promise<Listening> {
    this.#listening ??= Listening.open(this.#options.store, this.#options.partition)
    this.#listening.catch(() => (this.#listening = undefined))
    return this.#listening
  }
}
