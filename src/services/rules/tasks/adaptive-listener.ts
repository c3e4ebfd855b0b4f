/** Listens to the engine only while events are few, or somebody reads them. */
import type { Observable, Subscription } from 'rxjs'
import { machineTimers } from '../../../machine/timers.ts'
import type { TenantEvent } from '../runner.ts'

/** events in a second, of all tasks together */
const MAX_PER_SECOND = 20_000
/** ms without listening, when they were more */
const REST_MS = 60_000

export interface AdaptiveListenerOptions {
  readonly most?: number
  /** Does it after ms, unless it is taken back. */
  readonly later?: (ms: number, work: () => void) => () => void
}

/**
 * Listens to every event of every task while they are few. When they are many it rests for a minute: a task to which
 * nobody listens takes its messages at a fraction of the cost.
 */
export class AdaptiveListener {
  readonly #events$: Observable<TenantEvent>
  readonly #take: (told: TenantEvent) => void
  readonly #resting: () => void
  readonly #most: number
  readonly #later: (ms: number, work: () => void) => () => void
  #subscription: Subscription | undefined
  #cancel: () => void = () => undefined
  #second = 0
  #inSecond = 0

  /** `resting`: from here on things happen that are not told. */
  constructor(
    events$: Observable<TenantEvent>,
    take: (told: TenantEvent) => void,
    resting: () => void,
    { most = MAX_PER_SECOND, later = machineTimers.later }: AdaptiveListenerOptions = {},
  ) {
    this.#events$ = events$
    this.#take = take
    this.#resting = resting
    this.#most = most
    this.#later = later
    this.#listen()
  }

  get isListening(): boolean {
    return this.#subscription !== undefined
  }

  close(): void {
    this.#cancel()
    this.#subscription?.unsubscribe()
  }

  #listen(): void {
    this.#subscription = this.#events$.subscribe((told) => this.#told(told))
  }

  #told(told: TenantEvent): void {
    this.#take(told)
    const { time, at = time } = told.event
    const second = Math.floor(at / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#inSecond = 0
    }
    if (++this.#inSecond > this.#most) this.#rest()
  }

  #rest(): void {
    if (this.#subscription === undefined) return
    this.#subscription.unsubscribe()
    this.#subscription = undefined
    this.#resting()
    this.#cancel = this.#later(REST_MS, () => this.#listen())
  }
}
