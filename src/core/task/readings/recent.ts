/**
 * Remembers the last readings that a task processed of a resource, as identities of 16 bytes.
 *
 * RECENT-1 at most `MOST` readings of a resource are known, and none that was processed longer ago than the window.
 */
import { identityHash } from './reading.ts'
import type { Message } from '../origin.ts'

const MOST = 1_000
const LEAST_ROOM = 8
const HEX = 16
const HASH_DIGITS = 8
const TIME_DIGITS = 12
const DIGITS = 2 * HASH_DIGITS + TIME_DIGITS

export class RecentReadings {
  /** ring that starts at `#first`, with two numbers per reading */
  #hashes = new Uint32Array(0)
  /** epoch ms of the clock when each reading was processed */
  #times = new Float64Array(0)
  #first = 0
  #size = 0

  static of(saved: string): RecentReadings {
    const recent = new RecentReadings()
    for (let at = 0; at < saved.length; at += DIGITS) {
      const number = (from: number, digits: number): number => Number.parseInt(saved.substr(at + from, digits), HEX)
      recent.#push(number(0, HASH_DIGITS), number(HASH_DIGITS, HASH_DIGITS), number(2 * HASH_DIGITS, TIME_DIGITS))
    }
    return recent
  }

  get room(): number {
    return this.#times.length
  }

  /** Returns the least capacity that holds the readings processed at `since` or later. */
  roomSince(since: number): number {
    let [from, to] = [0, this.#size]
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      if ((this.#times[this.#slotOf(middle)] as number) < since) from = middle + 1
      else to = middle
    }
    return from === this.#size ? 0 : Math.max(LEAST_ROOM, this.#size - from)
  }

  /** Returns when the oldest known reading was processed, epoch ms; Infinity if none is known. */
  get oldest(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : (this.#times[this.#first] as number)
  }

  /** Returns when the newest known reading was processed, epoch ms; -Infinity if none is known. */
  get newest(): number {
    return this.#size === 0 ? Number.NEGATIVE_INFINITY : (this.#times[this.#slotOf(this.#size - 1)] as number)
  }

  /** Adds a reading, replacing the oldest if full; false if already known. `isNewer`: true when it cannot be known. */
  add(message: Message, ignores: readonly string[], now: number, isNewer: boolean): boolean {
    const [one, other] = identityHash(message, ignores)
    for (let i = isNewer ? -1 : this.#size - 1; i >= 0; i--) {
      const offset = 2 * this.#slotOf(i)
      if (this.#hashes[offset] === one && this.#hashes[offset + 1] === other) return false
    }
    this.#push(one, other, now)
    return true
  }

  /** Forgets readings processed before a time, epoch ms; returns their number. */
  forgetBefore(time: number): number {
    let count = 0
    while (this.oldest < time) {
      this.#shift()
      count++
    }
    return count
  }

  shrink(): void {
    this.#resize(Math.max(LEAST_ROOM, this.#size))
  }

  /** Returns the readings as text: for each, the digits of both halves of its identity and of its time. */
  save(): string {
    let text = ''
    for (let i = 0; i < this.#size; i++) {
      const slot = this.#slotOf(i)
      for (const half of [2 * slot, 2 * slot + 1]) text += digits(this.#hashes[half] as number, HASH_DIGITS)
      text += digits(this.#times[slot] as number, TIME_DIGITS)
    }
    return text
  }

  #slotOf(index: number): number {
    return (this.#first + index) % this.#times.length
  }

  #push(one: number, other: number, now: number): void {
    if (this.#size === MOST) this.#shift()
    else if (this.#size === this.#times.length) this.#resize(Math.min(MOST, Math.max(LEAST_ROOM, 2 * this.#size)))
    const slot = this.#slotOf(this.#size++)
    this.#hashes[2 * slot] = one
    this.#hashes[2 * slot + 1] = other
    this.#times[slot] = now
  }

  #shift(): void {
    this.#first = this.#slotOf(1)
    this.#size--
  }

  #resize(room: number): void {
    const hashes = new Uint32Array(2 * room)
    const times = new Float64Array(room)
    for (let i = 0; i < this.#size; i++) {
      const slot = this.#slotOf(i)
      hashes.set(this.#hashes.subarray(2 * slot, 2 * slot + 2), 2 * i)
      times[i] = this.#times[slot] as number
    }
    this.#hashes = hashes
    this.#times = times
    this.#first = 0
  }
}

function digits(number: number, count: number): string {
  return Math.floor(number).toString(HEX).padStart(count, '0')
}
