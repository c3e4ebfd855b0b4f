/** The part of one partition in the relay: what it takes from others, what it hands on, and what it wants to hear. */
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
  /** of the partition */
  readonly store: Store
  readonly partition: Partition
  /** of the tasks of the partition */
  readonly intake: DataIntake
  /** Something was handed to that partition. Must not wait. */
  readonly handed: (partition: number) => void
  /** calls `work` again and again until the function it gives is called */
  readonly every: (work: () => void) => () => void
  readonly logger?: Logger | undefined
}

export class Relay {
  /** Takes messages of any resource. */
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
    this.intake = {
      receive: async (...given) => (await this.#opened()).receive(...given),
      receiveAll: async (...given) => (await this.#opened()).receiveAll(...given),
    }
    this.#reader = new RelayReader({ tenant, store, number: partition.number, home: this.intake, tasks, logger })
  }

  /** Before a task is bound to them: resolves when the partition is handed what comes of them. */
  async bind(resources: readonly string[]): Promise<void> {
    await (await this.#heard()).listen(resources)
  }

  /** Tasks that ran are bound to what they need: from here on what others handed over is taken. */
  async start(): Promise<void> {
    await (await this.#heard()).sweep()
    this.#isStarted = true
    this.#endLooking = this.#options.every(() => this.#reader.wake())
    this.#reader.wake()
  }

  /** Something was handed to this partition. Before the start it waits: tasks that are not there yet would not hear it. */
  wake(): void {
    if (this.#isStarted) this.#reader.wake()
  }

  /** Resolves when what was there is taken, or has to wait. */
  idle(): Promise<void> {
    return this.#reader.idle()
  }

  async stop(): Promise<void> {
    this.#endLooking()
    await this.#reader.stop()
  }

  /** One that could not be opened is tried again by the next who asks. */
  #opened(): Promise<DataIntake> {
    const { store, partition } = this.#options
    this.#home ??= Listeners.open(store, partition).then((listeners) => relayingIntake({ ...this.#options, listeners }))
    this.#home.catch(() => (this.#home = undefined))
    return this.#home
  }

  #heard(): Promise<Listening> {
    this.#listening ??= Listening.open(this.#options.store, this.#options.partition)
    this.#listening.catch(() => (this.#listening = undefined))
    return this.#listening
  }
}
