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
  /** by resource and metric */
  readonly #times = new Map<string, Map<string, DistinctTimes>>()
  #held = 0

  constructor(from: number, until: number) {
    this.#from = from
    this.#until = until
  }

  count(resource: string, metric: string): number {
    return this.#times.get(resource)?.get(metric)?.count ?? 0
  }

  note({ input }: KeptInput): void {
    if (input.k !== 'data' || input.c !== undefined) return
    for (const message of messagesOf(input.m)) {
      const { resource, timestamp } = message
      const time = typeof timestamp === 'number' ? timestamp : readingTime(message, input.at)
      if (time < this.#from || time > this.#until) continue
      let byMetric = this.#times.get(resource)
      if (byMetric === undefined) this.#times.set(resource, (byMetric = new Map<string, DistinctTimes>()))
      for (const name in message) {
        const value = message[name]
        if (name === 'resource' || name === 'timestamp' || value === null || typeof value === 'object') continue
        let times = byMetric.get(name)
        if (times === undefined) byMetric.set(name, (times = new DistinctTimes()))
        if (times.add(time)) this.#holds()
      }
    }
  }

  /** Repetitions usually come soon, so older times are forgotten. */
  #holds(): void {
    if (++this.#held < MAX_HELD * 10) return
    for (const byMetric of this.#times.values()) for (const times of byMetric.values()) times.forget()
    this.#held = 0
  }
}

/** Counts distinct times, most of which arrive in order. */
class DistinctTimes {
  count = 0
  #last = Number.NEGATIVE_INFINITY
  #ordered: number[] = []
  #others = new Set<number>()

  /** Returns whether the time is new. */
  add(time: number): boolean {
    if (time > this.#last) {
      this.#last = time
      this.#ordered.push(time)
    } else if (time === this.#last || this.#others.has(time) || isAmong(this.#ordered, time)) return false
    else this.#others.add(time)
    this.count++
    return true
  }

  forget(): void {
    this.#ordered = []
    this.#others = new Set()
  }
}

function isAmong(ordered: readonly number[], time: number): boolean {
  let [low, high] = [0, ordered.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ordered[middle] ?? 0) < time) low = middle + 1
    else high = middle
  }
  return ordered[low] === time
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
