/**
 * Stores the timers of all owners as columns of numbers, some 60 bytes each instead of 300.
 *
 * TIMER-1 one row per thing (owner, kind, key), however often it is requested.
 * TIMER-2 rows come out by time; ties by the owner's order, then by kind, order and key. No two rows compare equal.
 * TIMER-3 `#heap` is a permutation of all rows: rows in use first, in heap order, then the free rows.
 *
 * Each heap node has four children whose times are stored side by side, so that a step down reads one cache line. A
 * firing timer keeps its row until it has fired, so that a clock that requests its next tick moves the row only once.
 */
import type { TimerKind } from '../task/input.ts'

export interface TimerOwner {
  /** order among owners; unique per owner */
  readonly order: number
  firstTimer: number
  /** Returns the real due time of the entry: later if it was requested again, Infinity if it was removed. */
  dueAt(kind: TimerKind, key: number): number
  fire(kind: TimerKind, key: number, now: number): void
}

export interface Timer {
  readonly owner: TimerOwner
  readonly kind: TimerKind
  readonly key: number
  readonly order: number
  readonly at: number
}

export const NO_TIMER = -1

const KINDS = [
  'evict',
  'follow',
  'members',
  'wake',
  'ownTick',
  'tick',
  'release',
] as const satisfies readonly TimerKind[]
const RANK: Readonly<Record<TimerKind, number>> = {
  evict: 0,
  follow: 1,
  members: 2,
  wake: 3,
  ownTick: 4,
  tick: 5,
  release: 6,
}
const FIRST_CAPACITY = 16
const ARITY = 4
/** Size up to which tables double; larger ones grow by half, to waste less. */
const LARGE = 4096

export class TimerTable {
  /** Infinity without a timer; in an array, so that reading it needs no call and no allocation */
  readonly earliest = new Float64Array([Number.POSITIVE_INFINITY])
  #size = 0
  #capacity = 0
  #owners: (TimerOwner | undefined)[] = []
  #key = new Float64Array(0)
  #order = new Float64Array(0)
  #rank = new Uint8Array(0)
  #next = new Int32Array(0)
  #previous = new Int32Array(0)
  #heap = new Int32Array(0)
  #at = new Float64Array(0)
  #position = new Int32Array(0)
  #taken = NO_TIMER
  /** hash table of row numbers plus one; 0 is empty. Its size is a power of two; it is at most three quarters full */
  #buckets = new Int32Array(0)

  get size(): number {
    return this.#size
  }

  /** Adds the timer, or moves it to an earlier time; the same or a later time changes nothing. */
  set(owner: TimerOwner, kind: TimerKind, key: number, at: number, order: number): void {
    const rank = RANK[kind]
    const known = this.#find(owner, rank, key)
    if (known !== NO_TIMER) {
      const position = num(this.#position, known)
      if (known === this.#taken) this.#taken = NO_TIMER
      else if (num(this.#at, position) <= at) return
      this.#order[known] = order
      this.#move(position, known, at)
      return
    }
    if (this.#size === this.#capacity) this.#grow()
    const row = num(this.#heap, this.#size)
    this.#owners[row] = owner
    this.#key[row] = key
    this.#order[row] = order
    this.#rank[row] = rank
    this.#previous[row] = NO_TIMER
    this.#next[row] = owner.firstTimer
    if (owner.firstTimer !== NO_TIMER) this.#previous[owner.firstTimer] = row
    owner.firstTimer = row
    this.#enter(row)
    this.#up(this.#size++, row, at)
  }

  peek(): Timer | undefined {
    return this.#size === 0 ? undefined : this.#timer(num(this.#heap, 0))
  }

  /** Returns the earliest timer, which `release` removes unless it is set again first. */
  take(): Timer | undefined {
    if (this.#size === 0) return undefined
    this.#taken = num(this.#heap, 0)
    return this.#timer(this.#taken)
  }

  release(): void {
    if (this.#taken !== NO_TIMER) this.#remove(this.#taken)
  }

  forget(owner: TimerOwner): void {
    while (owner.firstTimer !== NO_TIMER) this.#remove(owner.firstTimer)
  }

  clear(): void {
    while (this.#size > 0) this.forget(this.#ownerOf(num(this.#heap, this.#size - 1)))
    this.#capacity = 0
    this.#resize(FIRST_CAPACITY)
  }

  #timer(row: number): Timer {
    const kind = KINDS[num(this.#rank, row)] as TimerKind // ranks are indexes of KINDS
    return {
      owner: this.#ownerOf(row),
      kind,
      key: num(this.#key, row),
      order: num(this.#order, row),
      at: num(this.#at, num(this.#position, row)),
    }
  }

  #ownerOf(row: number): TimerOwner {
    return this.#owners[row] as TimerOwner // rows in use have an owner
  }

  #remove(row: number): void {
    if (row === this.#taken) this.#taken = NO_TIMER
    const owner = this.#ownerOf(row)
    const next = num(this.#next, row)
    const previous = num(this.#previous, row)
    if (previous === NO_TIMER) owner.firstTimer = next
    else this.#next[previous] = next
    if (next !== NO_TIMER) this.#previous[next] = previous
    this.#leave(row)
    this.#owners[row] = undefined
    const hole = num(this.#position, row)
    const last = num(this.#heap, --this.#size)
    const lastAt = num(this.#at, this.#size)
    this.#put(this.#size, row, Number.POSITIVE_INFINITY)
    if (last !== row) this.#move(hole, last, lastAt)
  }

  #isBefore(at: number, row: number, position: number): boolean {
    const difference = at - num(this.#at, position)
    return difference === 0 ? this.#isFirst(row, num(this.#heap, position)) : difference < 0
  }

  #isFirst(a: number, b: number): boolean {
    const order = this.#ownerOf(a).order - this.#ownerOf(b).order
    if (order !== 0) return order < 0
    const rank = num(this.#rank, a) - num(this.#rank, b)
    if (rank !== 0) return rank < 0
    const byOrder = num(this.#order, a) - num(this.#order, b)
    return byOrder === 0 ? num(this.#key, a) < num(this.#key, b) : byOrder < 0
  }

  #move(from: number, row: number, at: number): void {
    if (from > 0 && this.#isBefore(at, row, parentOf(from))) this.#up(from, row, at)
    else this.#down(from, row, at)
  }

  #up(from: number, row: number, at: number): void {
    let hole = from
    while (hole > 0) {
      const parent = parentOf(hole)
      if (!this.#isBefore(at, row, parent)) break
      this.#put(hole, num(this.#heap, parent), num(this.#at, parent))
      hole = parent
    }
    this.#put(hole, row, at)
  }

  #down(from: number, row: number, at: number): void {
    let hole = from
    for (let child = ARITY * hole + 1; child < this.#size; child = ARITY * hole + 1) {
      const end = Math.min(child + ARITY, this.#size)
      let least = child
      for (let other = child + 1; other < end; other++) {
        if (this.#isBefore(num(this.#at, other), num(this.#heap, other), least)) least = other
      }
      if (this.#isBefore(at, row, least)) break
      this.#put(hole, num(this.#heap, least), num(this.#at, least))
      hole = least
    }
    this.#put(hole, row, at)
  }

  #put(position: number, row: number, at: number): void {
    this.#heap[position] = row
    this.#at[position] = at
    this.#position[row] = position
    if (position === 0) this.earliest[0] = at
  }

  #find(owner: TimerOwner, rank: number, key: number): number {
    if (owner.firstTimer === NO_TIMER) return NO_TIMER
    const mask = this.#buckets.length - 1
    for (let bucket = hash(owner.order, rank, key) & mask; ; bucket = (bucket + 1) & mask) {
      const row = num(this.#buckets, bucket) - 1
      if (row < 0) return NO_TIMER
      if (num(this.#key, row) === key && num(this.#rank, row) === rank && this.#owners[row] === owner) return row
    }
  }

  #homeOf(row: number): number {
    return hash(this.#ownerOf(row).order, num(this.#rank, row), num(this.#key, row)) & (this.#buckets.length - 1)
  }

  #enter(row: number): void {
    const mask = this.#buckets.length - 1
    let bucket = this.#homeOf(row)
    while (num(this.#buckets, bucket) !== 0) bucket = (bucket + 1) & mask
    this.#buckets[bucket] = row + 1
  }

  /** Removes a row from the hash. Rows behind it move up, so that no tombstone is needed. */
  #leave(row: number): void {
    const mask = this.#buckets.length - 1
    let hole = this.#homeOf(row)
    while (num(this.#buckets, hole) !== row + 1) hole = (hole + 1) & mask
    for (let bucket = (hole + 1) & mask; num(this.#buckets, bucket) !== 0; bucket = (bucket + 1) & mask) {
      const home = this.#homeOf(num(this.#buckets, bucket) - 1)
      if (((bucket - home) & mask) < ((bucket - hole) & mask)) continue
      this.#buckets[hole] = num(this.#buckets, bucket)
      hole = bucket
    }
    this.#buckets[hole] = 0
  }

  #grow(): void {
    const factor = this.#capacity < LARGE ? 2 : 1.5
    this.#resize(Math.max(FIRST_CAPACITY, Math.floor(this.#capacity * factor)))
  }

  #resize(capacity: number): void {
    this.#at = resized(this.#at, new Float64Array(capacity))
    this.#key = resized(this.#key, new Float64Array(capacity))
    this.#order = resized(this.#order, new Float64Array(capacity))
    this.#rank = resized(this.#rank, new Uint8Array(capacity))
    this.#next = resized(this.#next, new Int32Array(capacity))
    this.#previous = resized(this.#previous, new Int32Array(capacity))
    this.#heap = resized(this.#heap, new Int32Array(capacity))
    this.#position = resized(this.#position, new Int32Array(capacity))
    this.#owners.length = Math.min(this.#owners.length, capacity)
    for (let free = this.#capacity; free < capacity; free++) this.#put(free, free, Number.POSITIVE_INFINITY)
    this.#capacity = capacity
    const buckets = 2 ** Math.ceil(Math.log2((capacity * 4) / 3))
    if (buckets === this.#buckets.length) return
    this.#buckets = new Int32Array(buckets)
    for (let position = 0; position < this.#size; position++) this.#enter(num(this.#heap, position))
  }
}

function parentOf(position: number): number {
  return Math.floor((position - 1) / ARITY)
}

type Column = Float64Array | Int32Array | Uint8Array

function num(column: Column, index: number): number {
  return column[index] as number // every index comes from the table itself
}

function resized<C extends Column>(from: Column, to: C): C {
  to.set(from.subarray(0, to.length))
  return to
}

function hash(order: number, rank: number, key: number): number {
  let mixed = Math.imul(order, 0x9e3779b1) ^ Math.imul(key * 8 + rank, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 13)) & 0x7fffffff
}
