/**
 * Batches pending calls: calls of one turn of the event loop, and calls that arrive while the maximum of batches is in
 * flight. After a failed batch, its calls are repeated one by one, so that only the faulty call fails.
 */
import { AppError, type Json } from '#kernel'
import type { ModelCall } from './driver.ts'

const MAX_BATCH = 2_048
const MAX_VALUES = 500_000
const MAX_WAITING = 50_000

interface Waiting {
  readonly call: ModelCall
  readonly values: number
  resolve(values: readonly Json[]): void
  reject(error: unknown): void
}

export interface BatcherOptions {
  /** Sends a batch as one call; returns one value per instance. */
  readonly send: (call: ModelCall) => Promise<readonly Json[]>
  readonly breathe: () => Promise<void>
  /** maximum number of batches in flight; default 1 */
  readonly parallel?: number
  /** true when an error affects all pending calls, which then fail at once; default: never */
  readonly isOfAll?: (error: unknown) => boolean
}

export class CallBatcher {
  readonly #options: BatcherOptions
  #waiting: Waiting[] = []
  #instances = 0
  #running = 0

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  /** Adds a call. Rejects with the error of this call only, or `RATE_LIMITED` when too many instances are pending. */
  call(call: ModelCall): Promise<readonly Json[]> {
    const count = call.instances.length
    if (this.#instances > 0 && this.#instances + count > MAX_WAITING) {
      return Promise.reject(
        new AppError('RATE_LIMITED', `${this.#instances} instances of the model are pending; retry later`),
      )
    }
    this.#instances += count
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, values: valuesOf(call.instances, MAX_VALUES), resolve, reject })
      if (this.#running < (this.#options.parallel ?? 1)) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running++
    while (this.#waiting.length > 0) {
      await this.#options.breathe()
      await this.#make(this.#take())
    }
    this.#running--
  }

  #take(): readonly Waiting[] {
    const taken: Waiting[] = []
    const left: Waiting[] = []
    const [first] = this.#waiting
    let room = MAX_BATCH
    let values = MAX_VALUES
    for (const one of this.#waiting) {
      const isFirst = taken.length === 0
      const count = one.call.instances.length
      const fits = count <= room && one.values <= values
      if (first !== undefined && (isFirst || (fits && isAlike(one.call, first.call)))) {
        taken.push(one)
        room -= count
        values -= one.values
      } else left.push(one)
    }
    this.#waiting = left
    for (const { call } of taken) this.#instances -= call.instances.length
    return taken
  }

  async #make(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch
    if (first === undefined) return
    if (batch.length === 1) return this.#oneByOne(batch)
    try {
      const instances = batch.flatMap(({ call }) => call.instances)
      const values = await this.#options.send({ ...first.call, instances })
      let at = 0
      for (const { call, resolve } of batch) resolve(values.slice(at, (at += call.instances.length)))
    } catch (error) {
      if (this.#isOfAll(error)) return this.#failAll(batch, error)
      // one of the calls may be invalid, or may have crashed the process
      await this.#oneByOne(batch)
    }
  }

  #isOfAll(error: unknown): boolean {
    return this.#options.isOfAll?.(error) === true
  }

  #failAll(batch: readonly Waiting[], error: unknown): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#instances = 0
    for (const { reject } of [...batch, ...waiting]) reject(error)
  }

  async #oneByOne(batch: readonly Waiting[]): Promise<void> {
    for (const [at, one] of batch.entries()) {
      try {
        one.resolve(await this.#options.send(one.call))
      } catch (error) {
        if (this.#isOfAll(error)) return this.#failAll(batch.slice(at), error)
        one.reject(error)
      }
    }
  }
}

/** Weighs a value, up to `most`; a long text counts as several values. */
function valuesOf(value: Json, most: number): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / TEXT)
  if (typeof value !== 'object' || value === null) return 1
  let count = 0
  for (const inner of Array.isArray(value) ? (value as readonly Json[]) : Object.values(value)) {
    count += valuesOf(inner, most - count)
    if (count >= most) break
  }
  return count
}

/** number of characters in a text that count as one value */
const TEXT = 16

function isAlike(a: ModelCall, b: ModelCall): boolean {
  return a.operation === b.operation && a.signature === b.signature && a.probabilities === b.probabilities
}
