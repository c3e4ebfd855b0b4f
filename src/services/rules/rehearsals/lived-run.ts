/** Plays kept inputs to lanes side by side, and beside a copy of the live task whose calls have recorded outcomes. */
import type { Message } from '#core'
import type { Played, PlaybackHooks } from '#core/spi'
import { type Input, messagesOf } from '../durable/input.ts'
import type { InputRange, KeptInput } from '../inputs/contract.ts'
import { readingTime, selectInput } from '../inputs/select-input.ts'
import type { TaskReplay } from '../inputs/task-replay.ts'
import type { LivedLane } from './lived-lane.ts'

export interface LivedOptions {
  readonly lanes: readonly LivedLane[]
  readonly live: TaskReplay | undefined
  readonly inputs: AsyncIterable<readonly KeptInput[]>
  /** inputs for the lanes; absent: all */
  readonly selects?: InputRange
  /** replaces an input for some lanes */
  readonly changed?: ((kept: KeptInput, lane: number) => KeptInput | undefined) | undefined
  /** epoch ms of readings */
  readonly from: number
  readonly until: number
  readonly resources: ReadonlySet<string>
  readonly note: (message: Message, time: number) => void
  readonly breathe: () => Promise<void> | undefined
}

export class LivedRun {
  readonly #options: LivedOptions
  readonly #hooks: PlaybackHooks
  #messages = 0
  #late = 0
  #newest = Number.NEGATIVE_INFINITY

  constructor(options: LivedOptions, hooks: PlaybackHooks) {
    this.#options = options
    this.#hooks = hooks
  }

  async play(): Promise<Played> {
    const { lanes, live, inputs, selects, from, until, breathe } = this.#options
    try {
      this.#step('start')
      for await (const batch of inputs) {
        for (const kept of batch) {
          const mine = selects === undefined ? kept : selectInput(kept, selects)
          if (live === undefined && mine === undefined) continue
          const reached = reachedBy(kept.input)
          if (reached !== undefined && this.#nextAt <= reached) await this.#advanceTo(reached)
          const answered = live && kept.input.k === 'answer' ? live.answeredNode(kept.input) : undefined
          if (live !== undefined) await live.apply(kept)
          if (mine !== undefined) {
            const waits = this.#take(mine, answered)
            if (waits !== undefined) await waits
          }
          const breath = breathe()
          if (breath !== undefined) await breath
        }
      }
      await this.#advanceTo(until)
      const now = Math.max(until, ...lanes.map((lane) => lane.now))
      const maxLag = Math.max(0, ...lanes.map((lane) => lane.maxLag))
      return { messages: this.#messages, late: this.#late, from, until: now, maxLag, tasks: [] }
    } finally {
      for (const lane of lanes) await lane.close()
      await live?.close()
    }
  }

  #take(kept: KeptInput, answered: string | undefined): Promise<void> | undefined {
    const { lanes, changed } = this.#options
    const message = kept.input.k === 'data' ? this.#note(kept.input) : undefined
    let waits: Promise<void> | undefined
    for (const [i, lane] of lanes.entries()) {
      const given = changed === undefined ? kept : changed(kept, i)
      if (given === undefined) continue
      const taken = waits === undefined ? lane.take(given, answered) : waits.then(() => lane.take(given, answered))
      if (taken !== undefined) waits = taken
    }
    if (this.#hooks.onStep === undefined) return waits
    const shown = (): void => this.#step(message === undefined ? 'clock' : 'message', message)
    if (waits !== undefined) return waits.then(shown)
    shown()
    return undefined
  }

  /** Counts the messages of a range of readings; others only lead to the state at its beginning. */
  #note(input: Extract<Input, { k: 'data' }>): Message | undefined {
    const { from, until, resources, note } = this.#options
    let first: Message | undefined
    for (const message of messagesOf(input.m)) {
      const time = readingTime(message, input.at)
      if (!resources.has(message.resource) || time < from || time > until) continue
      this.#messages++
      if (time < this.#newest) this.#late++
      this.#newest = Math.max(this.#newest, time)
      note(message, time)
      first ??= message
    }
    return first ?? messagesOf(input.m)[0]
  }

  get #nextAt(): number {
    const { lanes, live } = this.#options
    let next = live?.nextAt ?? Number.POSITIVE_INFINITY
    for (const { nextAt = Number.POSITIVE_INFINITY } of lanes) next = Math.min(next, nextAt)
    return next
  }

  /** Stops at each timer, so that calls which begin there end there. */
  async #advanceTo(time: number): Promise<void> {
    const { lanes, live, breathe } = this.#options
    for (let at = Math.min(this.#nextAt, time); ; at = Math.min(this.#nextAt, time)) {
      live?.advanceTo(at)
      for (const lane of lanes) await lane.advanceTo(at)
      if (at >= time) return
      this.#step('clock')
      const breath = breathe()
      if (breath !== undefined) await breath
    }
  }

  #step(kind: 'start' | 'message' | 'clock', message?: Message): void {
    const { lanes } = this.#options
    const { onStep } = this.#hooks
    const tasks = lanes.flatMap(({ task }) => task ?? [])
    if (onStep === undefined || tasks.length < lanes.length) return
    onStep({ kind, time: Math.max(...lanes.map(({ now }) => now)), ...(message && { message }) }, tasks)
  }
}

/** Returns when timers act before an input; undefined: the input itself decides when they act. */
function reachedBy(input: Input): number | undefined {
  if (input.k === 'jump' || input.k === 'still') return undefined
  return input.k === 'open' ? input.until : input.at
}
