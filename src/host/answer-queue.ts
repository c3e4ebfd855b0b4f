/**
 * Answers that have not begun, in the order in which they are due. No Map: one that is added to and deleted from without
 * end leaves a chain of old tables to the collector, and with each of them the requests that were open meanwhile.
 */

/** A place in the queue; empty once its answer was let go. */
export interface Place<T> {
  answer: T | undefined
  /** ms by the clock of whoever adds */
  readonly end: number
}

/** empty places that are worth a walk */
const MANY = 1_024

export class AnswerQueue<T> {
  #places: (Place<T> | undefined)[] = []
  /** place of the first; those before it are gone */
  #first = 0
  #empty = 0

  /** `end` is never before that of the one that was added last. */
  add(answer: T, end: number): Place<T> {
    const place = { answer, end }
    this.#places.push(place)
    return place
  }

  /** False when it was let go already. */
  letGo(place: Place<T>): boolean {
    if (place.answer === undefined) return false
    place.answer = undefined
    this.#empty++
    this.#tidy()
    return true
  }

  /** Those whose end has come; they are let go. */
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

  /** places that are held, empty ones among them */
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
    // one that lasts must not keep the empty places of all that came after it
    if (this.#empty <= MANY || this.#empty * 2 < this.size) return
    this.#places = places.filter((place) => place?.answer !== undefined)
    this.#first = 0
    this.#empty = 0
  }
}
