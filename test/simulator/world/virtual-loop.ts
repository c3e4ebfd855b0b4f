/**
 * Simulates the event loop of a machine from a seed: clocks, timers, turns and random numbers. It replaces Node's own
 * in the whole process, so that all code of the host, including packages, uses it.
 *
 * One thing happens at a time, and its consequences without a loop turn come before the next. Time passes only when
 * nothing is left to do at the current moment. Equal seeds produce equal orders, times and numbers.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import nodePerf from 'node:perf_hooks'
import nodeTimers from 'node:timers'
import nodeTimersPromises from 'node:timers/promises'
import { Heap } from '../../../src/kernel/heap.ts'
import { Chance } from './chance.ts'

/** ms that reading the clock takes, so that work that pauses after some ms reaches its pauses */
const LOOK_MS = 0.002
/** epoch ms at which every run begins */
export const BEGINNING = Date.UTC(2026, 2, 1)
/** events that may happen without time passing; more indicate an endless loop */
const MAX_AT_ONCE = 200_000

interface Due {
  readonly at: number
  readonly order: number
  readonly work: () => void
  readonly owner: Owner
  isOff: boolean
}

/** The owner of a timer: the machine, whose timers end with it, or a client or the world, whose timers continue. */
export type Owner = 'machine' | 'client' | 'world'

/** Result of the simulated `setTimeout`. */
class SimulatedTimer {
  due: Due | undefined
  readonly #start: (timer: SimulatedTimer) => void

  constructor(start: (timer: SimulatedTimer) => void) {
    this.#start = start
    start(this)
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  refresh(): this {
    this.close()
    this.#start(this)
    return this
  }

  close(): this {
    if (this.due !== undefined) this.due.isOff = true
    return this
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Loop delay monitor without delays. Node's own would continue after the simulated machine has died. */
const NO_DELAYS = { enable: () => true, disable: () => true, reset: () => undefined, count: 0, percentile: () => 0 }

const realSetImmediate = setImmediate

/** Resolves when everything that can follow without a loop turn has happened. */
function settle(): Promise<void> {
  return new Promise((resolve) => void realSetImmediate(resolve))
}

export class VirtualLoop {
  /** ms since the beginning of the run */
  #elapsed = 0
  /** ms by which the wall clock was set */
  #wallOffset = 0
  #order = 0
  #happened = 0
  #chance: Chance = new Chance('machine')
  #timers = VirtualLoop.#noTimers()
  #turns: Due[] = []
  #restore: (() => void) | undefined

  static #noTimers(): Heap<Due> {
    return new Heap((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order))
  }

  /** Resets everything for a new run. */
  begin(seed: string): void {
    this.#elapsed = 0
    this.#wallOffset = 0
    this.#happened = 0
    this.#order = 0
    this.#chance = new Chance(`machine ${seed}`)
    this.#timers = VirtualLoop.#noTimers()
    this.#turns = []
  }

  /** Drops what a machine that loses its power would still have done. */
  forget(): void {
    const others: Due[] = []
    for (let due = this.#timers.pop(); due !== undefined; due = this.#timers.pop()) {
      if (due.owner !== 'machine') others.push(due)
    }
    for (const due of others) this.#timers.push(due)
    this.#turns = this.#turns.filter(({ owner }) => owner !== 'machine')
  }

  /** ms since the beginning of the run, independent of the wall clock */
  get elapsed(): number {
    return this.#elapsed
  }

  /** number of events that have happened */
  get happened(): number {
    return this.#happened
  }

  /** epoch ms that the wall clock shows */
  get wall(): number {
    return BEGINNING + Math.floor(this.#elapsed) + this.#wallOffset
  }

  /** Sets the wall clock forward or back. */
  stepWall(ms: number): void {
    this.#wallOffset += ms
  }

  after(ms: number, work: () => void, owner: Owner = 'machine'): Due {
    const delay = Number.isFinite(ms) && ms >= 1 ? Math.min(ms, 2 ** 31 - 1) : 1
    const due = { at: this.#elapsed + delay, order: ++this.#order, work, owner, isOff: false }
    this.#timers.push(due)
    return due
  }

  turn(work: () => void): Due {
    const due: Due = { at: this.#elapsed, order: ++this.#order, work, owner: 'machine', isOff: false }
    this.#turns.push(due)
    return due
  }

  /** Runs until `isDone`, until the time `until`, or until nothing is left to do. */
  async run(isDone: () => boolean, until = Infinity): Promise<void> {
    for (let atOnce = 0, at = this.#elapsed; ; atOnce++) {
      await settle()
      if (isDone()) return
      const next = this.#next(until)
      if (next === undefined) {
        if (until !== Infinity) this.#elapsed = Math.max(this.#elapsed, until)
        return
      }
      if (this.#elapsed > at + 1) {
        at = this.#elapsed
        atOnce = 0
      } else if (atOnce > MAX_AT_ONCE) throw new Error('the host works without an end, and no time passes')
      this.#happened++
      next.work()
    }
  }

  #next(until: number): Due | undefined {
    for (let due = this.#turns.shift(); due !== undefined; due = this.#turns.shift()) if (!due.isOff) return due
    for (let due = this.#timers.peek(); due !== undefined && due.at <= until; due = this.#timers.peek()) {
      this.#timers.pop()
      if (due.isOff) continue
      this.#elapsed = Math.max(this.#elapsed, due.at)
      return due
    }
    return undefined
  }

  #look(): number {
    this.#elapsed += LOOK_MS
    return this.#elapsed
  }

  /** Replaces Node's own functions until `uninstall`. */
  install(): void {
    const saved: (() => void)[] = []
    const replace = (owner: object, name: string, value: unknown): void => {
      const before = Object.getOwnPropertyDescriptor(owner, name)
      Object.defineProperty(owner, name, { value, configurable: true, writable: true, enumerable: true })
      saved.push(() => before && Object.defineProperty(owner, name, before))
    }
    const clear = (timer?: { close?: () => unknown } | null): void => void timer?.close?.()
    const later = (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): SimulatedTimer =>
      new SimulatedTimer((timer) => {
        timer.due = this.after(ms, () => work(...given))
      })
    const every = (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): SimulatedTimer =>
      new SimulatedTimer((timer) => {
        const again = (): void => {
          timer.due = this.after(ms, again)
          work(...given)
        }
        timer.due = this.after(ms, again)
      })
    const soon = (work: (...given: unknown[]) => void, ...given: unknown[]): SimulatedTimer =>
      new SimulatedTimer((timer) => {
        timer.due = this.turn(() => work(...given))
      })
    for (const owner of [globalThis, nodeTimers]) {
      replace(owner, 'setTimeout', later)
      replace(owner, 'setInterval', every)
      replace(owner, 'setImmediate', soon)
      for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) replace(owner, name, clear)
    }
    replace(nodeTimersPromises, 'setImmediate', (value?: unknown) => new Promise((resolve) => soon(resolve, value)))
    replace(
      nodeTimersPromises,
      'setTimeout',
      (ms?: number, value?: unknown) => new Promise((resolve) => later(resolve, ms, value)),
    )
    replace(AbortSignal, 'timeout', (ms: number) => {
      const controller = new AbortController()
      later(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), ms)
      return controller.signal
    })
    replace(globalThis.performance, 'now', () => this.#look())
    replace(nodePerf, 'monitorEventLoopDelay', () => NO_DELAYS)
    replace(globalThis, 'Date', this.#dates())
    replace(Math, 'random', () => this.#chance.next())
    this.#replaceCrypto(replace)
    syncBuiltinESMExports()
    this.#restore = () => {
      for (const back of saved.reverse()) back()
      syncBuiltinESMExports()
    }
  }

  uninstall(): void {
    this.#restore?.()
    this.#restore = undefined
  }

  #dates(): DateConstructor {
    const now = (): number => this.wall
    return class extends Date {
      constructor(...given: []) {
        if ((given as unknown[]).length === 0) super(now())
        else super(...given)
      }

      static override now(): number {
        return now()
      }
    } as unknown as DateConstructor
  }

  #replaceCrypto(replace: (owner: object, name: string, value: unknown) => void): void {
    const { scryptSync } = crypto
    const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => this.#chance.below(256)))
    replace(crypto, 'randomBytes', bytes)
    replace(crypto, 'randomUUID', () => {
      const hex = bytes(16).toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
    })
    // Runs here, because threads would finish in an unpredictable order.
    replace(crypto, 'scrypt', (...given: Parameters<typeof crypto.scrypt>) => {
      const [secret, salt, length, options, tell] = given
      const hash = scryptSync(secret, salt, length, options)
      this.turn(() => tell(null, hash))
    })
  }
}
