/**
 * Inputs on their way: what arrives in one turn of the loop is committed together, and applied in the order of the log
 * when it is durable. Commits follow one another without waiting for each other's end: the store makes them in the order
 * in which it is asked (STORE-6). Writes of a sender's own are committed whole with its input, or by themselves, in the
 * order in which all of these arrived. A commit that may be refused for what it finds is under way alone, so that what is
 * tried again comes before whatever arrived later.
 */
import type { Json } from '../../../kernel/json.ts'
import { AppError } from '../../../kernel/errors.ts'
import type { Log, Store, Write } from '../../../storage/contract.ts'
import { INPUT_LOG, PARTITION, type Input } from './input.ts'
import { nextTurn, TimeSlicer } from './time-slicer.ts'

interface Queued {
  readonly at: number
  /** none: there is nothing but writes */
  readonly inputs: readonly Input[]
  readonly writes: readonly Write[]
  resolve(taken: Applied): void
  reject(error: unknown): void
}

export interface Applied {
  /** what applying each of the inputs gave */
  readonly given: readonly unknown[]
  /** of the sender's own writes, in their order: positions and versions as a commit gives them */
  readonly results: readonly number[]
}

const NONE: readonly never[] = []

/** How a commit ended. */
type Outcome = { readonly results: readonly number[] } | { readonly error: unknown }

export interface QueueHooks {
  /** Does what the input says; what it gives or throws goes to who sent the input. */
  apply(input: Input, position: number): unknown
  /** After the inputs of a commit were applied, or refused. */
  settled(): void
}

const MAX_AT_ONCE = 2000
/** commits that are under way at once */
const MAX_COMMITS = 4
/** As many writes a commit takes, whoever sent them; the input log's own among them. */
const MAX_WRITES = 5000
/** Above this many, what arrives is refused. */
const MAX_WAITING = 100_000

export class InputQueue {
  readonly #store: Store
  readonly #log: Log
  readonly #hooks: QueueHooks
  #waiting: Queued[] = []
  /** being committed or applied, oldest first */
  #underWay: Queued[] = []
  /** those of them that were applied or refused */
  #done = 0
  /** under way */
  #commits = 0
  /** the commit that began last lets no other begin */
  #isAlone = false
  #isWoken = false
  /** a commit began that may yet be refused at once, for what its writes say: none may begin before it is tried again */
  #hasBegun = false
  /** when the commit that began last is over, and all before it */
  #over: Promise<void> = Promise.resolve()

  constructor(store: Store, hooks: QueueHooks) {
    this.#store = store
    this.#log = store.log(INPUT_LOG)
    this.#hooks = hooks
  }

  get size(): number {
    return this.#waiting.length + this.#underWay.length - this.#done
  }

  /** Nothing is on its way. */
  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#commits === 0
  }

  /** `at` of the first input that was not applied yet; time may not go beyond it. */
  get horizon(): number {
    return (this.#underWay[this.#done] ?? this.#waiting[0])?.at ?? Number.POSITIVE_INFINITY
  }

  /** `at` of the last input that waits. */
  get lastAt(): number {
    return (this.#waiting.at(-1) ?? this.#underWay.at(-1))?.at ?? Number.NEGATIVE_INFINITY
  }

  /** Whether an input of that kind is on its way; one that was applied is not. */
  has(kind: Input['k']): boolean {
    for (let i = this.#done; i < this.#underWay.length; i++) if (hasKind(this.#underWay[i], kind)) return true
    return this.#waiting.some((one) => hasKind(one, kind))
  }

  /** Settles with what applying it gives, after it is durable. Rejects with the store's error when it is not. */
  add(input: Input, writes: readonly Write[] = []): Promise<Applied> {
    this.#wake()
    return this.#enqueue(input.at, [input], writes)
  }

  /**
   * Inputs of one moment, one after the other: all of them are committed with the writes, or none is. They do not wait
   * for others of the turn: whoever sends several has gathered them.
   */
  addAll(at: number, inputs: readonly Input[], writes: readonly Write[]): Promise<Applied> {
    const applied = this.#enqueue(at, inputs, writes)
    this.#begin()
    return applied
  }

  /** Writes without an input, which take their turn among the inputs. */
  addWrites(at: number, writes: readonly Write[]): Promise<Applied> {
    this.#wake()
    return this.#enqueue(at, NONE, writes)
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (!this.isIdle) await (this.#commits > 0 ? this.#over : nextTurn())
  }

  #enqueue(at: number, inputs: readonly Input[], writes: readonly Write[]): Promise<Applied> {
    if (this.size >= MAX_WAITING) {
      return Promise.reject(new AppError('TOO_LARGE', `${MAX_WAITING} inputs wait to be stored; send less at once`))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ at, inputs, writes, resolve, reject })
    })
  }

  /** Begins when what arrives in this turn of the loop has arrived. */
  #wake(): void {
    if (this.#isWoken) return
    this.#isWoken = true
    setImmediate(() => {
      this.#isWoken = false
      this.#hasBegun = false
      this.#begin()
    })
  }

  #begin(): void {
    if (this.#waiting.length === 0 || this.#commits >= MAX_COMMITS || this.#isAlone || this.#hasBegun) return
    const fitting = this.#fitting()
    const isAlone = this.#waiting.slice(0, fitting).some(mayBeRefused)
    if (isAlone && this.#commits > 0) return
    const batch = this.#waiting.splice(0, fitting)
    this.#isAlone = isAlone
    this.#commits++
    this.#underWay.push(...batch)
    this.#over = this.#run(batch, this.#over)
    this.#hasBegun = true
    this.#wake()
  }

  /** A batch until it is over; it is applied after those before it. Never rejects. */
  async #run(batch: readonly Queued[], before: Promise<void>): Promise<void> {
    const outcome = await this.#commit(batch)
    // while no other has begun, what is tried again still comes before whatever arrived later
    const isNewest = this.#underWay.at(-1) === batch.at(-1)
    if (isNewest) this.#hasBegun = false
    if ('error' in outcome && isNewest) this.#isAlone = true
    const isAlone = this.#isAlone && isNewest
    await before
    await this.#take(batch, outcome, isAlone)
    this.#underWay.splice(0, batch.length)
    this.#done = 0
    this.#commits--
    if (isAlone) this.#isAlone = false
    this.#hooks.settled()
    this.#begin()
  }

  /** How many of those that wait one commit can take; at least one, which then has to fit by itself. */
  #fitting(): number {
    let writes = 1
    let inputs = 0
    const most = Math.min(MAX_AT_ONCE, this.#waiting.length)
    for (let i = 0; i < most; i++) {
      writes += this.#waiting[i]?.writes.length ?? 0
      inputs += this.#waiting[i]?.inputs.length ?? 0
      if (writes > MAX_WRITES || inputs > MAX_AT_ONCE) return Math.max(1, i)
    }
    return most
  }

  async #take(batch: readonly Queued[], outcome: Outcome, mayTryAgain: boolean): Promise<void> {
    if (!('error' in outcome)) return this.#applyAll(batch, outcome.results)
    if (mayTryAgain && batch.length > 1 && isRefusal(outcome.error)) {
      // One of them cannot be stored: the others shall not suffer for it.
      const middle = Math.ceil(batch.length / 2)
      for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
        await this.#take(half, await this.#commit(half), true)
      }
      return
    }
    for (const { reject } of batch) reject(outcome.error)
    this.#done += batch.length
  }

  /** Never rejects. The log comes last, so that the places in an error about writes are those of their sender. */
  async #commit(batch: readonly Queued[]): Promise<Outcome> {
    const bodies = batch.flatMap(({ inputs }) => inputs as unknown as readonly Json[])
    const writes = batch.flatMap((one) => one.writes)
    if (bodies.length > 0) writes.push(this.#log.appending(PARTITION, bodies))
    try {
      return { results: (await this.#store.commit(writes)).results }
    } catch (error) {
      return { error }
    }
  }

  async #applyAll(batch: readonly Queued[], results: readonly number[]): Promise<void> {
    const slicer = new TimeSlicer()
    let count = 0
    let place = 0
    const own = batch.map(({ inputs, writes, resolve }) => {
      const ownResults = writes.length === 0 ? NONE : results.slice(place, (place += writes.length))
      count += inputs.length
      // nothing is to be applied: who sent writes alone does not wait until others were
      if (inputs.length === 0) resolve({ given: NONE, results: ownResults })
      return ownResults
    })
    let position = (results.at(-1) ?? 0) - count
    for (const [i, { inputs, resolve, reject }] of batch.entries()) {
      const given: unknown[] = []
      let failure: { readonly error: unknown } | undefined
      for (const input of inputs) {
        if (given.length > 0 && slicer.isLong) await slicer.rest()
        try {
          const one = this.#hooks.apply(input, ++position)
          given.push(one instanceof Promise ? await one : one)
        } catch (error) {
          // those after it are in the log too
          given.push(undefined)
          failure ??= { error }
        }
      }
      if (failure !== undefined) reject(failure.error)
      else if (inputs.length > 0) resolve({ given, results: own[i] ?? NONE })
      this.#done++
      if (slicer.isLong) await slicer.rest()
    }
  }
}

function hasKind(queued: Queued | undefined, kind: Input['k']): boolean {
  return queued?.inputs.some(({ k }) => k === kind) === true
}

/** For what it finds in the store: an append expects nothing. */
function mayBeRefused({ writes }: Queued): boolean {
  return writes.some(({ kind }) => kind !== 'append')
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status < 500
}
