/**
 * A scheduler like a machine's, whose time can jump: forwards as after a sleep, and backwards as after a correction.
 */
import { Subscription, type SchedulerAction, type SchedulerLike } from 'rxjs'

interface Waiting {
  /** ms of the steady time that the machine's timers follow */
  at: number
  run(): void
}

export class JumpingClock implements SchedulerLike {
  /** every requested delay, in ms */
  readonly delays: number[] = []
  #now: number
  #steady = 0
  #waiting: Waiting[] = []

  constructor(now = 0) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription {
    this.delays.push(delay)
    const subscription = new Subscription()
    const action = Object.assign(subscription, { schedule: () => subscription })
    const entry = { at: this.#steady + delay, run: () => work.call(action, state) }
    this.#waiting.push(entry)
    subscription.add(() => (this.#waiting = this.#waiting.filter((other) => other !== entry)))
    return subscription
  }

  /** Returns the number of pending wake-ups. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Sets the wall clock without running timers. */
  set(now: number): void {
    this.#now = now
  }

  /** Advances the time like a process that slept: all timers due in between run at the end. */
  sleep(ms: number): void {
    this.#now += ms
    this.#steady += ms
    for (let due = this.#due(); due !== undefined; due = this.#due()) {
      this.#waiting = this.#waiting.filter((other) => other !== due)
      due.run()
    }
  }

  #due(): Waiting | undefined {
    return this.#waiting.filter(({ at }) => at <= this.#steady).toSorted((a, b) => a.at - b.at)[0]
  }
}
