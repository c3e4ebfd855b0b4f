/** Keeps a connection: connects, works until it fails, and connects again with backoff. */
import { messageOf, type StartTimer } from '#kernel'
import type { ConnectorStatus } from './connector-schema.ts'

export interface LoopOptions {
  readonly later: StartTimer
  /** epoch ms */
  readonly now: () => number
  /** Works until the signal aborts or something fails. `connected` and `progressed` report how far it came. */
  readonly attempt: (attempt: Attempt) => Promise<void>
  readonly failed: (error: unknown) => void
  readonly counted: (result: 'retried', count: number) => void
}

export interface Attempt {
  readonly signal: AbortSignal
  connected(): void
  /** Notes that records passed, so that the next failure begins with the shortest wait. */
  progressed(): void
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000

export class ConnectionLoop {
  readonly #options: LoopOptions
  readonly #ending = new AbortController()
  #running: Promise<void> | undefined
  #state: ConnectorStatus['state'] = 'connecting'
  #wait = FIRST_WAIT_MS
  #retried = 0
  #lastError: ConnectorStatus['lastError']

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  get status(): Pick<ConnectorStatus, 'state' | 'retried' | 'lastError'> {
    const lastError = this.#lastError
    return { state: this.#state, retried: this.#retried, ...(lastError && { lastError }) }
  }

  /** Notes an error that does not end the connection. */
  note(error: unknown): void {
    this.#lastError = { time: new Date(this.#options.now()).toISOString(), message: messageOf(error).slice(0, 1_000) }
    this.#options.failed(error)
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    const attempt: Attempt = {
      signal,
      connected: () => {
        this.#state = 'running'
      },
      progressed: () => {
        this.#wait = FIRST_WAIT_MS
      },
    }
    while (!signal.aborted) {
      this.#state = 'connecting'
      try {
        await this.#options.attempt(attempt)
      } catch (error) {
        if (signal.aborted) return
        this.#state = 'retrying'
        this.#retried++
        this.#options.counted('retried', 1)
        this.note(error)
        await this.#pause(signal)
      }
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    const ms = this.#wait
    this.#wait = Math.min(LONGEST_WAIT_MS, ms * 2)
    return new Promise((resolve) => {
      const cancel = this.#options.later(ms, resolve)
      signal.addEventListener(
        'abort',
        () => {
          cancel()
          resolve()
        },
        { once: true },
      )
    })
  }
}
