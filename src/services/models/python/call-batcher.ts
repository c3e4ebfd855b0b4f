/**
 * Makes one call of those that wait: calls of one turn, and those that come while another is under way. One batch is
 * under way at a time. When a batch fails, each of its calls is made alone, so that only the one that is wrong hears of it.
 */
import { AppError } from '../../../kernel/errors.ts'
import type { Json } from '../../../kernel/json.ts'
import type { ModelCall } from '../driver.ts'

/** instances of one batch; a call with more goes alone */
const MAX_BATCH = 2_048
/** instances that wait */
const MAX_WAITING = 50_000

interface Waiting {
  readonly call: ModelCall
  resolve(values: readonly Json[]): void
  reject(error: unknown): void
}

export interface BatcherOptions {
  /** Makes a call; gives a value for each instance. */
  readonly send: (call: ModelCall) => Promise<readonly Json[]>
  /** Resolves when all that came in this turn were heard. */
  readonly breathe: () => Promise<void>
}

export class CallBatcher {
  readonly #options: BatcherOptions
  #waiting: Waiting[] = []
  #instances = 0
  #isRunning = false

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  /** Rejects with what the call alone is refused with; `RATE_LIMITED` when too much waits. */
  call(call: ModelCall): Promise<readonly Json[]> {
    const count = call.instances.length
    if (this.#instances > 0 && this.#instances + count > MAX_WAITING) {
      return Promise.reject(new AppError('RATE_LIMITED', `${this.#instances} instances wait for the model; try again`))
    }
    this.#instances += count
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      await this.#options.breathe()
      await this.#make(this.#take())
    }
    this.#isRunning = false
  }

  /** The first call, and those after it that are asked alike, as far as there is room. */
  #take(): readonly Waiting[] {
    const taken: Waiting[] = []
    const left: Waiting[] = []
    const [first] = this.#waiting
    let room = MAX_BATCH
    for (const one of this.#waiting) {
      const isFirst = taken.length === 0
      const count = one.call.instances.length
      if (first !== undefined && (isFirst || (count <= room && isAlike(one.call, first.call)))) {
        taken.push(one)
        room -= count
      } else left.push(one)
    }
    this.#waiting = left
    for (const { call } of taken) this.#instances -= call.instances.length
    return taken
  }

  async #make(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch
    if (first === undefined) return
    if (batch.length === 1) return this.#alone(first)
    try {
      const instances = batch.flatMap(({ call }) => call.instances)
      const values = await this.#options.send({ ...first.call, instances })
      let at = 0
      for (const { call, resolve } of batch) resolve(values.slice(at, (at += call.instances.length)))
    } catch {
      // one of them may be wrong, or may have ended the process
      for (const one of batch) await this.#alone(one)
    }
  }

  async #alone({ call, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await this.#options.send(call))
    } catch (error) {
      reject(error)
    }
  }
}

function isAlike(a: ModelCall, b: ModelCall): boolean {
  return a.operation === b.operation && a.signature === b.signature && a.probabilities === b.probabilities
}
