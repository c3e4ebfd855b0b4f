/**
 * Inputs on their way: what arrives in one turn of the loop is committed together, and applied in the order of the log
 * when it is durable. Commits are made one after the other, so that all positions are known.
 */
import type { Json } from '../../../kernel/json.ts'
import { AppError } from '../../../kernel/errors.ts'
import type { Log, Store, Write } from '../../../storage/contract.ts'
import { INPUT_LOG, PARTITION, type Input } from './input.ts'
import { nextTurn, Turns } from './turns.ts'

interface Queued {
  readonly input: Input
  readonly writes: readonly Write[]
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface QueueHooks {
  /** Does what the input says; what it gives or throws goes to who sent the input. */
  apply(input: Input, position: number): unknown
  /** After the inputs of a commit were applied, or refused. */
  settled(): void
}

const MOST_AT_ONCE = 2000
/** Above this many, what arrives is refused. */
const MOST_WAITING = 100_000

export class InputQueue {
  readonly #store: Store
  readonly #log: Log
  readonly #hooks: QueueHooks
  #waiting: Queued[] = []
  #current: readonly Queued[] = []
  #done = 0
  #running: Promise<void> | undefined

  constructor(store: Store, hooks: QueueHooks) {
    this.#store = store
    this.#log = store.log(INPUT_LOG)
    this.#hooks = hooks
  }

  get size(): number {
    return this.#waiting.length + this.#current.length - this.#done
  }

  /** `at` of the first input that was not applied yet; time may not go beyond it. */
  get horizon(): number {
    return (this.#current[this.#done] ?? this.#waiting[0])?.input.at ?? Number.POSITIVE_INFINITY
  }

  /** `at` of the last input that waits. */
  get lastAt(): number {
    return (this.#waiting.at(-1) ?? this.#current.at(-1))?.input.at ?? Number.NEGATIVE_INFINITY
  }

  /** Whether an input of that kind is on its way. */
  has(kind: Input['k']): boolean {
    return this.#waiting.some(({ input }) => input.k === kind) || this.#current.some(({ input }) => input.k === kind)
  }

  /** Settles with what applying it gives, after it is durable. Rejects with the store's error when it is not. */
  add(input: Input, writes: readonly Write[] = []): Promise<unknown> {
    if (this.size >= MOST_WAITING) {
      return Promise.reject(new AppError('TOO_LARGE', `${MOST_WAITING} inputs wait to be stored; send less at once`))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, writes, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #run(): Promise<void> {
    await nextTurn()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_AT_ONCE)
      this.#current = batch
      this.#done = 0
      await this.#take(batch)
      this.#current = []
      this.#done = 0
      this.#hooks.settled()
    }
    this.#running = undefined
  }

  async #take(batch: readonly Queued[]): Promise<void> {
    let last: number
    try {
      last = await this.#commit(batch)
    } catch (error) {
      if (batch.length === 1 || !isRefusal(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      // One of them cannot be stored: the others shall not suffer for it.
      for (const one of batch) {
        this.#current = batch.slice(batch.indexOf(one))
        this.#done = 0
        await this.#take([one])
      }
      return
    }
    await this.#applyAll(batch, last - batch.length + 1)
  }

  async #commit(batch: readonly Queued[]): Promise<number> {
    const bodies = batch.map(({ input }) => input as unknown as Json)
    const writes = [this.#log.appending(PARTITION, bodies), ...batch.flatMap((one) => one.writes)]
    const { results } = await this.#store.commit(writes)
    return results[0] ?? 0
  }

  async #applyAll(batch: readonly Queued[], first: number): Promise<void> {
    const turns = new Turns()
    for (const [i, { input, resolve, reject }] of batch.entries()) {
      try {
        const given = this.#hooks.apply(input, first + i)
        resolve(given instanceof Promise ? await given : given)
      } catch (error) {
        reject(error)
      }
      this.#done++
      if (turns.isLong) await turns.rest()
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status < 500
}
