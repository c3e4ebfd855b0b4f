/** Cores, threads and a disk in virtual time, with their queues. */
import type { VirtualClock } from '../../src/core/simulate/virtual-clock.ts'

interface Work {
  readonly us: number
  readonly done: () => void
}

/** Limited concurrency, first come first served. */
export class Cores {
  spent = 0
  readonly #clock: VirtualClock
  readonly #waiting: Work[] = []
  #free: number

  constructor(clock: VirtualClock, cores: number) {
    this.#clock = clock
    this.#free = cores
  }

  run(us: number, done: () => void): void {
    this.#waiting.push({ us, done })
    this.#next()
  }

  #next(): void {
    const work = this.#free > 0 ? this.#waiting.shift() : undefined
    if (work === undefined) return
    this.#free -= 1
    this.spent += work.us
    this.#clock.schedule(() => {
      this.#free += 1
      work.done()
      this.#next()
    }, work.us / 1_000)
  }
}

/** One piece of work at a time, on possibly shared cores. */
export class Thread {
  spent = 0
  readonly #cores: Cores
  readonly #waiting: Work[] = []
  #busy = false

  constructor(cores: Cores) {
    this.#cores = cores
  }

  run(us: number, done: () => void): void {
    this.#waiting.push({ us, done })
    this.#next()
  }

  #next(): void {
    const work = this.#busy ? undefined : this.#waiting.shift()
    if (work === undefined) return
    this.#busy = true
    this.spent += work.us
    this.#cores.run(work.us, () => {
      this.#busy = false
      work.done()
      this.#next()
    })
  }
}

/** Flush requests during a flush share the next one. */
export class Disk {
  spent = 0
  readonly #clock: VirtualClock
  readonly #flushMs: number
  #waiting: (() => void)[] = []
  #busy = false

  constructor(clock: VirtualClock, flushMs: number) {
    this.#clock = clock
    this.#flushMs = flushMs
  }

  flush(done: () => void): void {
    this.#waiting.push(done)
    if (!this.#busy) this.#begin()
  }

  #begin(): void {
    const all = this.#waiting
    this.#waiting = []
    this.#busy = true
    this.spent += this.#flushMs * 1_000
    this.#clock.schedule(() => {
      this.#busy = false
      for (const done of all) done()
      if (!this.#busy && this.#waiting.length > 0) this.#begin()
    }, this.#flushMs)
  }
}
