/**
 * The inputs of one tenant on their way from their senders to the tasks. What this queue is for: it hands each sender's
 * inputs and writes to the store as one unit of work, at once, and applies inputs in the order of the log when they are
 * durable. It gathers nothing: which units share a commit is the store's affair, which keeps their order and refuses each
 * for its own sake alone.
 *
 * INPUT-1 an input is applied when its unit is durable, never before, and its sender is answered after that
 * INPUT-2 inputs are applied in the order of the log, which is that in which they came (STORE-6), however many units
 *     are under way
 * INPUT-3 a unit that is refused leaves nothing behind and holds up none
 * INPUT-4 what waits is bounded: beyond it inputs are refused, and nothing of them was done
 */
import { AppError, type Ended, type JsonText, ReorderBuffer, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { Committed, Log, LogBody, Store, Write } from '#storage'
import { INPUT_LOG, PARTITION, type Input } from './input.ts'

interface Unit {
  readonly inputs: readonly Input[]
  resolve(applied: Applied): void
  reject(error: unknown): void
}

export interface Applied {
  /** what applying each of the inputs gave */
  readonly given: readonly unknown[]
  /** of the sender's own writes, in their order: positions and versions as a commit gives them */
  readonly results: readonly number[]
}

export interface QueueHooks {
  /** Does what the input says; what it gives or throws goes to who sent the input. */
  apply(input: Input, position: number): unknown
  /** After inputs were applied, or refused. */
  settled(): void
}

/** Above this many, what arrives is refused. */
const MAX_WAITING = 100_000

export class InputQueue {
  readonly #store: Store
  readonly #log: Log
  readonly #hooks: QueueHooks
  readonly #committing = new ReorderBuffer<Unit, Committed>((ended) => this.#applyAll(ended))
  #size = 0
  /** of those on their way, by kind */
  readonly #counts = new Map<Input['k'], number>()

  constructor(store: Store, hooks: QueueHooks) {
    this.#store = store
    this.#log = store.log(INPUT_LOG)
    this.#hooks = hooks
  }

  /** inputs on their way */
  get size(): number {
    return this.#size
  }

  /** `at` of the first input that was not applied yet; time may not go beyond it. */
  get horizon(): number {
    return this.#committing.oldest?.inputs[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** `at` of the last input on its way. */
  get lastAt(): number {
    return this.#committing.newest?.inputs[0]?.at ?? Number.NEGATIVE_INFINITY
  }

  /** Whether an input of that kind is on its way; one that was applied is not. */
  has(kind: Input['k']): boolean {
    return (this.#counts.get(kind) ?? 0) > 0
  }

  /**
   * Inputs of one moment, one after the other: all of them are committed with the writes, or none is. Settles with what
   * applying them gives, after they are durable. Rejects with the store's error when they are not. `bodies`: the inputs as
   * the log gets them, some of them as text.
   */
  add(
    inputs: readonly Input[],
    writes: readonly Write[] = [],
    bodies: readonly (Input | JsonText)[] = inputs,
  ): Promise<Applied> {
    if (this.#size >= MAX_WAITING) {
      return Promise.reject(new AppError('TOO_LARGE', `${MAX_WAITING} inputs wait to be stored; send less at once`))
    }
    return new Promise((resolve, reject) => {
      // the log comes last, so that the places in an error about writes are those of their sender
      const logging = this.#log.appending(PARTITION, bodies as readonly unknown[] as readonly LogBody[])
      this.#committing.add({ inputs, resolve, reject }, this.#store.commit([...writes, logging]))
      this.#count(inputs, 1)
    })
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#size > 0) await this.#committing.passed()
  }

  async #applyAll(ended: readonly Ended<Unit, Committed>[]): Promise<void> {
    const yielder = new Yielder(machineTimers)
    for (const { item, outcome } of ended) {
      // not after the last: whoever waits until nothing is on its way finds all settled
      if (yielder.isOver) await yielder.next()
      const settle =
        'error' in outcome ? () => item.reject(outcome.error) : await this.#apply(item, outcome.result, yielder)
      this.#committing.drop(1)
      this.#count(item.inputs, -1)
      settle()
    }
    this.#hooks.settled()
  }

  /** Gives how its sender is answered. */
  async #apply({ inputs, resolve, reject }: Unit, { results }: Committed, yielder: Yielder): Promise<() => void> {
    let position = (results.at(-1) ?? 0) - inputs.length
    const given: unknown[] = []
    let failure: { readonly error: unknown } | undefined
    for (const input of inputs) {
      if (given.length > 0 && yielder.isOver) await yielder.next()
      try {
        const one = this.#hooks.apply(input, ++position)
        given.push(one instanceof Promise ? await one : one)
      } catch (error) {
        // those after it are in the log too
        given.push(undefined)
        failure ??= { error }
      }
    }
    const { error } = failure ?? {}
    return failure === undefined ? () => resolve({ given, results: results.slice(0, -1) }) : () => reject(error)
  }

  #count(inputs: readonly Input[], sign: 1 | -1): void {
    this.#size += sign * inputs.length
    for (const { k } of inputs) this.#counts.set(k, (this.#counts.get(k) ?? 0) + sign)
  }
}
