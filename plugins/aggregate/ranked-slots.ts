/** Orders slots by their numbers, then by their ids, in O(log n): a treap with priorities from a fixed seed. */
import { nextSeed, randomOf } from '#plug'

const NONE = -1

export class RankedSlots {
  readonly #numbers: readonly number[]
  readonly #ids: readonly string[]
  readonly #left: number[] = []
  readonly #right: number[] = []
  readonly #sizes: number[] = []
  readonly #priorities: number[] = []
  #root = NONE
  #seed = 1

  /** The number and the id of a slot must not change while it is in the order. */
  constructor(numbers: readonly number[], ids: readonly string[]) {
    this.#numbers = numbers
    this.#ids = ids
  }

  get size(): number {
    return this.#size(this.#root)
  }

  insert(slot: number): void {
    this.#seed = nextSeed(this.#seed)
    this.#left[slot] = NONE
    this.#right[slot] = NONE
    this.#sizes[slot] = 1
    this.#priorities[slot] = randomOf(this.#seed)
    this.#root = this.#insertAt(this.#root, slot)
  }

  remove(slot: number): void {
    this.#root = this.#removeAt(this.#root, slot)
  }

  /** Returns the slot of a rank, from 0; -1 when out of range. */
  at(rank: number): number {
    let slot = this.#root
    let wanted = rank
    while (slot !== NONE) {
      const before = this.#size(at(this.#left, slot))
      if (wanted === before) return slot
      if (wanted < before) slot = at(this.#left, slot)
      else {
        wanted -= before + 1
        slot = at(this.#right, slot)
      }
    }
    return NONE
  }

  /** Returns a percentile of the numbers, interpolated between two of them. */
  percentile(percent: number): number {
    const rank = ((this.size - 1) * percent) / 100
    const below = Math.floor(rank)
    const low = this.#number(this.at(below))
    return rank === below ? low : low + (this.#number(this.at(below + 1)) - low) * (rank - below)
  }

  #insertAt(top: number, slot: number): number {
    if (top === NONE) return slot
    const goesLeft = this.#isBefore(slot, top)
    const side = goesLeft ? this.#left : this.#right
    side[top] = this.#insertAt(at(side, top), slot)
    this.#resize(top)
    return at(this.#priorities, at(side, top)) > at(this.#priorities, top) ? this.#rotate(top, goesLeft) : top
  }

  #rotate(top: number, left: boolean): number {
    const [side, other] = left ? [this.#left, this.#right] : [this.#right, this.#left]
    const child = at(side, top)
    side[top] = at(other, child)
    other[child] = top
    this.#resize(top)
    this.#resize(child)
    return child
  }

  #removeAt(top: number, slot: number): number {
    if (top === NONE) return NONE
    if (top === slot) return this.#joined(at(this.#left, top), at(this.#right, top))
    const side = this.#isBefore(slot, top) ? this.#left : this.#right
    side[top] = this.#removeAt(at(side, top), slot)
    this.#resize(top)
    return top
  }

  #joined(first: number, second: number): number {
    if (first === NONE) return second
    if (second === NONE) return first
    if (at(this.#priorities, first) > at(this.#priorities, second)) {
      this.#right[first] = this.#joined(at(this.#right, first), second)
      this.#resize(first)
      return first
    }
    this.#left[second] = this.#joined(first, at(this.#left, second))
    this.#resize(second)
    return second
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#number(a), this.#number(b)]
    return first < second || (first === second && (this.#ids[a] ?? '') < (this.#ids[b] ?? ''))
  }

  #number(slot: number): number {
    return this.#numbers[slot] ?? Number.NaN
  }

  #resize(slot: number): void {
    this.#sizes[slot] = 1 + this.#size(at(this.#left, slot)) + this.#size(at(this.#right, slot))
  }

  #size(slot: number): number {
    return slot === NONE ? 0 : at(this.#sizes, slot)
  }
}

function at(list: readonly number[], index: number): number {
  return list[index] ?? NONE
}
