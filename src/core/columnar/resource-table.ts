/**
 * Maps resources to numbers, for the lookup that each message begins with. A Map would hash each message's new string
 * entirely and then compare it. This table uses only the two or four characters in which resources differ most to find
 * the one place where a text can be stored. Texts whose place is taken are stored in a Map.
 */
import { integersInPlace } from './fixed-memory.ts'

/** Result for a text without a number. */
export const NO_NUMBER = -1

const ROOM = 2
const FIRST_SIZE = 32
const SAMPLE = 128
/** cyclic step for sampling texts: a prime */
const STRIDE = 7919
/** Exceeds any string length. Infinity would make each comparison a double comparison. */
const LONGER_THAN_TEXTS = 2 ** 30
const REACH = 12
const FEW = 512
/** Digits prefer the first factor, so that numbered resources are adjacent. */
const FACTORS = [10, 31, 127]
/** A table larger than this does not fit into the nearest cache. */
const NEAR = 2048
const TOLERATED = 1 / 16

export class ResourceTable {
  #places = new Places([], 0, 1)
  /** by place; '' where the place is empty */
  #texts: string[] = ['']
  /** by place; a stored text may lack a number for a while */
  #numbers = integersInPlace(1).fill(NO_NUMBER)
  readonly #others = new Map<string, number>()
  #placed = 0

  /** Returns the place where a text can be stored. */
  placeOf(text: string): number {
    return this.#places.of(text)
  }

  /** Returns the number at a place, whatever its text. */
  numberAt(place: number): number {
    return this.#numbers[place] as number
  }

  /** whether the table is so large that reading a text and its row is slow */
  get isFar(): boolean {
    return this.#texts.length > NEAR
  }

  get(text: string, place = this.#places.of(text)): number {
    if (this.#texts[place] === text) {
      const number = this.#numbers[place] as number
      if (number !== NO_NUMBER) return number
    }
    return this.#others.size === 0 ? NO_NUMBER : (this.#others.get(text) ?? NO_NUMBER)
  }

  set(text: string, number: number): void {
    if (this.#others.has(text) || !this.#put(text, number)) this.#others.set(interned(text), number)
    const texts = this.#placed + this.#others.size
    // A single text needs no characters to find its place.
    if (texts > 1 && ROOM * texts > this.#texts.length) this.#rearrange()
  }

  delete(text: string): void {
    const place = this.#places.of(text)
    if (text !== '' && this.#texts[place] === text) this.#numbers[place] = NO_NUMBER
    else this.#others.delete(text)
  }

  /** number of texts stored in the Map */
  get withoutPlace(): number {
    return this.#others.size
  }

  #put(text: string, number: number): boolean {
    if (text === '') return false
    const place = this.#places.of(text)
    const there = this.#texts[place]
    if (there !== text) {
      if (there !== '' && this.#numbers[place] !== NO_NUMBER) return false
      if (there === '') this.#placed++
      this.#texts[place] = interned(text)
    }
    this.#numbers[place] = number
    return true
  }

  #rearrange(): void {
    const all = [...this.#others]
    for (const [place, text] of this.#texts.entries()) {
      const number = this.#numbers[place] as number
      if (number !== NO_NUMBER) all.push([text, number])
    }
    const texts = all.map(([text]) => text)
    let size = FIRST_SIZE
    while (size < 2 * ROOM * texts.length) size *= 2
    this.#places = placesFor(texts, size)
    this.#texts = Array.from({ length: size }, () => '')
    this.#numbers = integersInPlace(size).fill(NO_NUMBER)
    this.#others.clear()
    this.#placed = 0
    for (const [text, number] of all) if (!this.#put(text, number)) this.#others.set(text, number)
  }
}

function interned(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}

/** Computes places of texts from two or four of their characters. */
class Places {
  readonly #reach: number
  readonly #isShort: boolean
  readonly #mask: number
  // Separate fields, because a list would cost an extra read for each.
  readonly #at0: number
  readonly #at1: number
  readonly #at2: number
  readonly #at3: number
  readonly #factor: number
  readonly #factor2: number
  readonly #factor3: number

  /**
   * `positions`: up to four character positions, negative from the end; none: all texts share one place. `size`: a
   * power of two.
   */
  constructor(positions: readonly number[], factor: number, size: number) {
    const reaches = positions.map((at) => (at < 0 ? -at : at + 1))
    this.#reach = positions.length === 0 ? LONGER_THAN_TEXTS : Math.max(...reaches)
    this.#isShort = positions.length <= 2
    this.#mask = size - 1
    const [at0 = 0, at1 = at0, at2 = at1, at3 = at2] = positions
    this.#at0 = at0
    this.#at1 = at1
    this.#at2 = at2
    this.#at3 = at3
    this.#factor = factor
    this.#factor2 = factor * factor
    this.#factor3 = factor * factor * factor
  }

  of(text: string): number {
    const { length } = text
    if (length < this.#reach) return 0
    const first = codeAt(text, this.#at0, length)
    const second = codeAt(text, this.#at1, length)
    if (this.#isShort) return (Math.imul(first, this.#factor) + second) & this.#mask
    const third = codeAt(text, this.#at2, length)
    const fourth = codeAt(text, this.#at3, length)
    const high = Math.imul(first, this.#factor3) + Math.imul(second, this.#factor2)
    return (high + Math.imul(third, this.#factor) + fourth) & this.#mask
  }
}

function codeAt(text: string, at: number, length: number): number {
  return text.charCodeAt(at + (length & (at >> 31)))
}

function placesFor(texts: readonly string[], size: number): Places {
  let best = new Places([], 1, size)
  let least = texts.length
  for (const count of texts.length <= FEW ? [2, 4] : [4]) {
    const positions = tellingPositions(texts, count)
    for (const factor of FACTORS) {
      const places = new Places(positions, factor, size)
      const meetings = meetingsIn(places, texts, size)
      if (meetings >= least) continue
      best = places
      least = meetings
      if (least <= texts.length * TOLERATED) return best
    }
  }
  return best
}

function meetingsIn(places: Places, texts: readonly string[], size: number): number {
  const isTaken = new Uint8Array(size)
  let meetings = 0
  for (const text of texts) {
    const place = places.of(text)
    meetings += isTaken[place] as number
    isTaken[place] = 1
  }
  return meetings
}

function tellingPositions(texts: readonly string[], count: number): readonly number[] {
  // Takes samples at a prime stride: every tenth of a numbered series would end alike.
  const among = Math.min(SAMPLE, texts.length)
  const sample = Array.from({ length: among }, (_, i) => texts[Math.imul(i, STRIDE) % texts.length] ?? '')
  const lengths = sample.map(({ length }) => length).sort((a, b) => a - b)
  const reach = Math.min(REACH, lengths[Math.floor(lengths.length * TOLERATED)] ?? 0)
  const candidates = Array.from({ length: 2 * reach }, (_, i) => (i < reach ? -1 - i : i - reach))
  const chosen: number[] = []
  /** for each text, the group that the chosen characters put it in */
  let groups = sample.map(() => 0)
  // Try the most distinguishing characters first: usually few are needed then.
  const variety = new Map(candidates.map((at) => [at, splitBy(at, sample, groups).count]))
  candidates.sort((one, other) => (variety.get(other) ?? 0) - (variety.get(one) ?? 0))
  while (chosen.length < count) {
    const left = candidates.filter((at) => !chosen.includes(at)).map((at) => ({ at, ...splitBy(at, sample, groups) }))
    const most = Math.max(...left.map((one) => one.count))
    const best = left.find((one) => one.count === most)
    if (best === undefined) break
    chosen.push(best.at)
    groups = best.groups
  }
  const place = (at: number): number => (at < 0 ? at + 2 * REACH : at)
  return chosen.sort((a, b) => place(a) - place(b))
}

function splitBy(at: number, texts: readonly string[], groups: readonly number[]): { groups: number[]; count: number } {
  const numbers = new Map<number, number>()
  const finer = texts.map((text, i) => {
    const key = (groups[i] as number) * 2 ** 16 + codeAt(text, at, text.length)
    const known = numbers.get(key) ?? numbers.size
    numbers.set(key, known)
    return known
  })
  return { groups: finer, count: numbers.size }
}
