/** Decides whether kept inputs have everything that series have of a range, and puts their messages in order of time. */
import type { Message } from '#core'
import type { MessageIterator } from '#core/spi'
import { messagesOf } from '../durable/input.ts'
import type { InputRange, KeptInput, KeptInputs } from '../inputs/contract.ts'
import { readingTime } from '../inputs/select-input.ts'
import type { RehearsalHistory } from './rehearsal-history.ts'

/** epoch ms of readings, both inclusive */
interface ReadingRange extends InputRange {
  readonly from: number
  readonly until: number
  readonly resources: readonly string[]
}

/** number of inputs, and of sample times, that are held in memory */
const MAX_HELD = 50_000

export class KeptRange {
  readonly #inputs: KeptInputs
  readonly #range: ReadingRange
  /** undefined: too many to hold */
  readonly #held: readonly KeptInput[] | undefined

  private constructor(inputs: KeptInputs, range: ReadingRange, held: readonly KeptInput[] | undefined) {
    this.#inputs = inputs
    this.#range = range
    this.#held = held
  }

  /** Returns undefined if no inputs are kept, or if series have samples of the range that no rule received. */
  static async of(
    history: RehearsalHistory,
    range: ReadingRange,
    signal: AbortSignal | undefined,
  ): Promise<KeptRange | undefined> {
    const { inputs } = history
    if (inputs === undefined || (await inputs.since()) === undefined) return undefined
    const { from, until, resources } = range
    const received = new SampleTimes(from, until)
    let held: KeptInput[] | undefined = []
    for await (const batch of inputs.read(range, signal)) {
      for (const kept of batch) received.note(kept)
      held = held !== undefined && held.length + batch.length <= MAX_HELD ? held : undefined
      held?.push(...batch)
    }
    for (const resource of resources) {
      const counts = await history.counts(resource, from, until)
      for (const [metric, count] of Object.entries(counts)) {
        if (count > received.count(resource, metric)) return undefined
      }
    }
    return new KeptRange(inputs, range, held)
  }

  /** In the order of arrival. */
  async *inputs(signal?: AbortSignal): AsyncGenerator<readonly KeptInput[], undefined> {
    if (this.#held === undefined) yield* this.#inputs.read(this.#range, signal)
    else yield this.#held
  }

  /** In order of time. `channels` receives the channel of each message that has one. */
  async *messages(channels: WeakMap<Message, string>, signal?: AbortSignal): AsyncGenerator<Message, undefined> {
    yield* this.#sorted(this.#range.from, this.#range.until, channels, signal)
  }

  async *#sorted(
    from: number,
    until: number,
    channels: WeakMap<Message, string>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Message, undefined> {
    const found: { readonly time: number; readonly message: Message }[] = []
    const source = this.#held === undefined ? this.#inputs.read({ ...this.#range, from, until }, signal) : [this.#held]
    for await (const batch of source) {
      for (const { input } of batch) {
        if (input.k !== 'data') continue
        for (const message of messagesOf(input.m)) {
          const time = readingTime(message, input.at)
          const timed = message.timestamp === time ? message : { ...message, timestamp: time }
          if (input.c !== undefined) channels.set(timed, input.c)
          found.push({ time, message: timed })
        }
      }
      if (found.length > MAX_HELD && until > from && this.#held === undefined) break
    }
    if (found.length > MAX_HELD && until > from && this.#held === undefined) {
      const middle = Math.floor((from + until) / 2)
      yield* this.#sorted(from, middle, channels, signal)
      return yield* this.#sorted(middle + 1, until, channels, signal)
    }
    for (const { message } of found.toSorted((a, b) => a.time - b.time)) yield message
  }
}

/** Counts samples as series would have them: one for each metric and time, without nulls and objects. */
class SampleTimes {
  readonly #from: number
  readonly #until: number
  readonly #counts = new Map<string, number>()
  #seen = new Map<string, Set<number>>()
  #held = 0

  constructor(from: number, until: number) {
    this.#from = from
    this.#until = until
  }

  count(resource: string, metric: string): number {
    return this.#counts.get(keyOf(resource, metric)) ?? 0
  }

  note({ input }: KeptInput): void {
    if (input.k !== 'data' || input.c !== undefined) return
    for (const message of messagesOf(input.m)) {
      const { resource, timestamp } = message
      const time = typeof timestamp === 'number' ? timestamp : readingTime(message, input.at)
      if (time < this.#from || time > this.#until) continue
      for (const name in message) {
        const value = message[name]
        if (name === 'resource' || name === 'timestamp' || value === null || typeof value === 'object') continue
        this.#add(keyOf(resource, name), time)
      }
    }
  }

  #add(key: string, time: number): void {
    const times = this.#seen.get(key) ?? new Set()
    if (times.size === 0) this.#seen.set(key, times)
    if (times.has(time)) return
    times.add(time)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    // repetitions usually come soon
    if (++this.#held < MAX_HELD * 10) return
    this.#seen = new Map()
    this.#held = 0
  }
}

function keyOf(resource: string, metric: string): string {
  return `${resource}\n${metric}`
}

/** Calls `note` with each message before it is delivered. */
export function noted(
  messages: AsyncIterator<Message>,
  note: (message: Message, time: number) => void,
): MessageIterator {
  return {
    next: async () => {
      const next = await messages.next()
      if (next.done !== true) note(next.value, Number(next.value.timestamp))
      return next
    },
    return: (value) => messages.return?.(value),
  }
}
