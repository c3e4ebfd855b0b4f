/**
 * Queues pending answers in the order of their deadlines. In a Map, constant insertions and deletions would leave old
 * tables, and the requests they reference, to the garbage collector.
 */

export interface Place<T> {
  answer: T | undefined
  /** Deadline, ms on the caller's clock */
  readonly end: number
}

const MANY = 1_024

export class AnswerQueue<T> {
  #places: (Place<T> | undefined)[] = []
  #first = 0
  #empty = 0

  /** Adds an answer. Requires that `end` is not earlier than the `end` of the previous answer. */
  add(answer: T, end: number): Place<T> {
    const place = { answer, end }
    this.#places.push(place)
    return place
  }

  /** Removes an answer from the queue. Returns false when the answer was already released. */
  release(place: Place<T>): boolean {
    if (place.answer === undefined) return false
    place.answer = undefined
    this.#empty++
    this.#tidy()
    return true
  }

  takeDue(now: number): readonly T[] {
    const due: T[] = []
    for (let at = this.#first; at < this.#places.length; at++) {
      const place = this.#places[at]
      if (place?.answer === undefined) continue
      if (place.end > now) break
      due.push(place.answer)
      place.answer = undefined
      this.#empty++
    }
    this.#tidy()
    return due
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const place of this.#places) if (place?.answer !== undefined) yield place.answer
  }

  get size(): number {
    return this.#places.length - this.#first
  }

  #tidy(): void {
    const places = this.#places
    while (this.#first < places.length && places[this.#first]?.answer === undefined) {
      places[this.#first++] = undefined
      this.#empty--
    }
    if (this.#first === places.length) {
      places.length = 0
      this.#first = 0
    } else if (this.#first > MANY && this.#first * 2 > places.length) {
      places.splice(0, this.#first)
      this.#first = 0
    }
    // a long-lived answer must not retain the empty positions behind it
    if (this.#empty <= MANY || this.#empty * 2 < this.size) return
    this.#places = places.filter((place) => place?.answer !== undefined)
    this.#first = 0
    this.#empty = 0
  }
}
