/**
 * Implements virtual time as an RxJS scheduler: actions run only when the clock advances, in order of their time, ties
 * in order of scheduling. A heap keeps many timers cheap.
 */
import { Subscription, type SchedulerAction, type SchedulerLike } from 'rxjs'
import { Heap } from '#kernel'

class VirtualAction<T> extends Subscription implements SchedulerAction<T> {
  at = 0
  order = 0
  state: T | undefined
  readonly #clock: VirtualClock
  readonly #work: (this: SchedulerAction<T>, state?: T) => void

  constructor(clock: VirtualClock, work: (this: SchedulerAction<T>, state?: T) => void) {
    super()
    this.#clock = clock
    this.#work = work
  }

  schedule(state?: T, delay = 0): Subscription {
    this.state = state
    this.#clock.enqueue(this as VirtualAction<unknown>, delay)
    return this
  }

  run(): void {
    this.#work.call(this, this.state)
  }
}

export class VirtualClock implements SchedulerLike {
  // in arrays, since storing a number there allocates nothing
  readonly #now: Float64Array
  #order = 0
  /** Lower bound for the time of the next action; most messages of a simulation come earlier. */
  readonly #earliest = Float64Array.of(Number.POSITIVE_INFINITY)
  readonly #due = new Heap<{ at: number; order: number; action: VirtualAction<unknown> }>(
    (a, b) => a.at < b.at || (a.at === b.at && a.order < b.order),
  )

  constructor(now = 0) {
    this.#now = Float64Array.of(now)
  }

  now(): number {
    return this.#now[0] as number
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription {
    return new VirtualAction(this, work).schedule(state, delay)
  }

  enqueue(action: VirtualAction<unknown>, delay: number): void {
    action.at = (this.#now[0] as number) + Math.max(0, delay)
    action.order = ++this.#order
    this.#due.push({ at: action.at, order: action.order, action })
    if (action.at < (this.#earliest[0] as number)) this.#earliest[0] = action.at
  }

  /** Returns the time of the next action that was not cancelled, or undefined. */
  nextAt(): number | undefined {
    for (let top = this.#due.peek(); top; top = this.#due.peek()) {
      if (!top.action.closed && top.order === top.action.order) return (this.#earliest[0] = top.at)
      this.#due.pop()
    }
    this.#earliest[0] = Number.POSITIVE_INFINITY
    return undefined
  }

  /** Moves to `time` at once: actions that are due earlier run late, at that time. Never moves back. */
  jumpTo(time: number): void {
    this.#now[0] = Math.max(this.#now[0] as number, time)
    this.advanceTo(time)
  }

  /** Runs everything due up to and including `time`, each action at its own time; ends at `time`. Never moves back. */
  advanceTo(time: number): void {
    if (time < (this.#earliest[0] as number)) {
      if (time > (this.#now[0] as number)) this.#now[0] = time
      return
    }
    for (let at = this.nextAt(); at !== undefined && at <= time; at = this.nextAt()) {
      const entry = this.#due.pop()
      this.#now[0] = Math.max(this.#now[0] as number, at)
      entry?.action.run()
    }
    this.#now[0] = Math.max(this.#now[0] as number, time)
  }
}
