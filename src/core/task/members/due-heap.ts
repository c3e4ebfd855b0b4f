/** Orders members by the time at which something of them is due. */

export interface Entry<T> {
  readonly item: T
  at: number
  place: number
}

/**
 * A heap whose entries may be too early: an item that becomes due later moves only when it comes to the top, so that a
 * member with many messages costs one comparison each.
 */
export class DueHeap<T extends { readonly order: number }> {
  readonly #list: Entry<T>[] = []
  readonly #entries = new Map<T, Entry<T>>()
  readonly #dueAt: (item: T) => number

  /** `dueAt`: the real time of an item, epoch ms; Infinity: it is not due at all. */
  constructor(dueAt: (item: T) => number) {
    this.#dueAt = dueAt
  }

  get size(): number {
    return this.#list.length
  }

  /** Must be called when an item becomes due earlier than before. */
  note(item: T): void {
    const at = this.#dueAt(item)
    const known = this.#entries.get(item)
    if (known === undefined) {
      if (at === Number.POSITIVE_INFINITY) return
      const entry = { item, at, place: this.#list.length }
      this.#entries.set(item, entry)
      this.#list.push(entry)
      this.#up(entry)
    } else if (at < known.at) {
      known.at = at
      this.#up(known)
    }
  }

  /** Returns the item that is due first; at the same time, the one with the lowest order. */
  first(): T | undefined {
    for (let top = this.#list[0]; top !== undefined; top = this.#list[0]) {
      const at = this.#dueAt(top.item)
      if (at === top.at) return top.item
      if (at === Number.POSITIVE_INFINITY) this.#removeFirst(top)
      else {
        top.at = at
        this.#down(top)
      }
    }
    return undefined
  }

  firstAt(): number {
    const first = this.first()
    return first === undefined ? Number.POSITIVE_INFINITY : this.#dueAt(first)
  }

  #removeFirst(top: Entry<T>): void {
    this.#entries.delete(top.item)
    const last = this.#list.pop()
    if (last === undefined || last === top) return
    last.place = 0
    this.#list[0] = last
    this.#down(last)
  }

  #up(entry: Entry<T>): void {
    while (entry.place > 0) {
      const parent = this.#list[(entry.place - 1) >> 1] as Entry<T> // above an entry
      if (!isBefore(entry, parent)) return
      this.#swap(entry, parent)
    }
  }

  #down(entry: Entry<T>): void {
    for (;;) {
      const left = this.#list[2 * entry.place + 1]
      const right = this.#list[2 * entry.place + 2]
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || !isBefore(child, entry)) return
      this.#swap(child, entry)
    }
  }

  #swap(a: Entry<T>, b: Entry<T>): void {
    ;[a.place, b.place] = [b.place, a.place]
    this.#list[a.place] = a
    this.#list[b.place] = b
  }
}

function isBefore<T extends { readonly order: number }>(a: Entry<T>, b: Entry<T>): boolean {
  return a.at < b.at || (a.at === b.at && a.item.order < b.item.order)
}
