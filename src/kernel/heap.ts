/** Binary heap that pops the smallest item by `before`; ties pop in no fixed order. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    let hole = items.length
    items.push(item)
    while (hole > 0) {
      const up = (hole - 1) >> 1
      const parent = items[up] as T // hole > 0, so the parent exists
      if (!this.#before(item, parent)) break
      items[hole] = parent
      hole = up
    }
    items[hole] = item
  }

  pop(): T | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return top
    let hole = 0
    for (;;) {
      let child = 2 * hole + 1
      if (child >= items.length) break
      const right = child + 1
      if (right < items.length && this.#before(items[right] as T, items[child] as T)) child = right // both below length
      const smaller = items[child] as T // below length
      if (!this.#before(smaller, last)) break
      items[hole] = smaller
      hole = child
    }
    items[hole] = last
    return top
  }
}
