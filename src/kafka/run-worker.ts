/** Keeps a worker connected: opens the log, runs slices until the connection fails, and opens it again with backoff. */
import type { Plug, PlugServices } from '#core'
import type { Generate } from '#core/spi'
import { AppError, type Logger, messageOf } from '#kernel'
import { createTopics } from './client/create-topics.ts'
import { KafkaLog, type KafkaLogOptions } from './client/kafka-log.ts'
import type { WorkerOptions } from './contract.ts'
import { EffectRunner } from './effects.ts'
import type { TransactionalLog } from './log.ts'
import { type PublishedTask, rulesToPublish } from './publish-rules.ts'
import { Worker, type WorkerView } from './worker.ts'

export interface RunWorkerOptions {
  readonly connection: KafkaLogOptions['connection']
  readonly prefix: string
  readonly worker: WorkerOptions
  /** Creates the plugs over the services of the worker. */
  readonly plugs: (services: PlugServices) => readonly Plug[]
  readonly generate?: Generate | undefined
  readonly version: string
  /** partitions and copies of topics that are created if they are missing; absent: missing topics are an error */
  readonly create?: { readonly partitions: number; readonly replicas: number }
  /** Tasks that this worker publishes at its start; absent: other processes publish. */
  readonly publish?: () => Promise<{ readonly from: string; readonly tasks: readonly PublishedTask[] }>
  /** false: other processes make the outside calls; default true */
  readonly effects?: boolean
  readonly now: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly logger?: Logger | undefined
}

const BACKOFF_MS = 500
const MAX_BACKOFF_MS = 10_000
/** Errors that another attempt does not change. */
const FINAL = new Set(['VALIDATION', 'SAVED_STATE', 'CONFLICT', 'NOT_FOUND'])

export class RunningWorker {
  readonly #options: RunWorkerOptions
  #worker: Worker | undefined
  #trouble: string | undefined = 'the worker is connecting'
  #isPublished = false

  constructor(options: RunWorkerOptions) {
    this.#options = options
  }

  get worker(): WorkerView | undefined {
    return this.#worker?.view()
  }

  /** why the worker is not connected; undefined: it is */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Runs until the signal aborts. `VALIDATION`, `SAVED_STATE`, `CONFLICT` for what another attempt does not change. */
  async run(signal: AbortSignal): Promise<void> {
    const { logger, pause } = this.#options
    for (let tries = 0; !signal.aborted; tries++) {
      const session = new AbortController()
      const end = (): void => session.abort()
      signal.addEventListener('abort', end, { once: true })
      try {
        await this.#session(session, () => (tries = 0))
      } catch (error) {
        if (error instanceof AppError && FINAL.has(error.code)) throw error
        this.#trouble = messageOf(error)
        if (!signal.aborted) logger?.warn(`the connection to Kafka failed: ${this.#trouble}`)
      } finally {
        end()
        signal.removeEventListener('abort', end)
        this.#worker = undefined
      }
      if (!signal.aborted) await pause(Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** Math.min(tries, 10)))
    }
  }

  async #session(session: AbortController, connected: () => void): Promise<void> {
    const { connection, prefix, worker: options, create, pause, logger, effects = true } = this.#options
    const { name } = options
    if (create !== undefined) await createTopics({ connection, prefix, name, pause, ...create })
    const logs: TransactionalLog[] = []
    let worker: Worker | undefined
    const open = async (group: string, input: 'in' | 'effects'): Promise<KafkaLog> => {
      const log = await KafkaLog.open({ connection, prefix, name, group, input, pause, logger })
      logs.push(log)
      return log
    }
    try {
      const log = await open('workers', 'in')
      const { plugs, generate, now, version } = this.#options
      worker = new Worker({ log, options, plugs, generate, now, version, logger })
      await this.#publish(worker, log)
      this.#worker = worker
      this.#trouble = undefined
      connected()
      const runner =
        effects && new EffectRunner({ log: await open('effects', 'effects'), plugs: plugs({}), pause, logger })
      const work = [worker.run(session.signal, pause)]
      if (runner !== false) work.push(runner.run(session.signal))
      // the first that fails ends the others
      await Promise.all(work.map((one) => one.finally(() => session.abort())))
    } finally {
      session.abort()
      await worker?.close()
      for (const log of logs) await log.close()
    }
  }

  async #publish(worker: Worker, log: TransactionalLog): Promise<void> {
    const { publish, now } = this.#options
    if (publish === undefined || this.#isPublished) return
    const { from, tasks } = await publish()
    await worker.readRules()
    await log.append(rulesToPublish(tasks, { from, now: now(), book: worker.book }))
    await worker.readRules()
    this.#isPublished = true
  }
}
