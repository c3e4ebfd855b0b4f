/**
 * Calls of one task that act and are not over, in the order in which they fired. A call begins when no earlier one that
 * touches the same is left; calls that touch different things do not wait for each other, as long as not too many are
 * under way.
 *
 * QUEUE-1 calls on one thing begin in the order in which they took their places
 * QUEUE-2 a call takes its place in all its queues at once, so that no two wait for each other
 */
import type { Execution } from './state.ts'

export class EffectQueues {
  /** oldest first, by what they touch */
  readonly #queues = new Map<string, Execution[]>()
  /** those that have not begun, oldest first */
  readonly #behind = new Set<Execution>()
  #size = 0

  /** how many have their place, whether they wait or are called */
  get size(): number {
    return this.#size
  }

  /** how many wait for others */
  get behind(): number {
    return this.#behind.size
  }

  /** those that wait for others, oldest first */
  get waiting(): Iterable<Execution> {
    return this.#behind
  }

  /** The call that waits longest for others; undefined when none does. */
  get oldestBehind(): Execution | undefined {
    for (const execution of this.#behind) return execution
    return undefined
  }

  /** Gives the execution its place; true when it may begin. `most`: how many may be under way. */
  place(execution: Execution, touches: readonly string[], most: number): boolean {
    const distinct = touches.length === 1 ? touches : [...new Set(touches)]
    execution.touches = distinct
    let isFirst = this.#size - this.#behind.size < most
    this.#size++
    for (const thing of distinct) {
      const queue = this.#queues.get(thing)
      if (queue === undefined) this.#queues.set(thing, [execution])
      else {
        queue.push(execution)
        isFirst = false
      }
    }
    if (!isFirst) this.#behind.add(execution)
    return isFirst
  }

  /** The execution is over; gives those that may begin now. */
  release(execution: Execution, most: number): readonly Execution[] {
    const touched = execution.touches ?? []
    execution.touches = null
    this.#size--
    const wasFull = this.#size + 1 - this.#behind.size >= most
    this.#behind.delete(execution)
    const nexts = new Set<Execution>()
    for (const thing of touched) {
      const queue = this.#queues.get(thing)
      if (queue === undefined) continue
      const place = queue.indexOf(execution)
      if (place !== -1) queue.splice(place, 1)
      const [next] = queue
      if (next === undefined) this.#queues.delete(thing)
      else nexts.add(next)
    }
    const free: Execution[] = []
    for (const next of wasFull ? this.#behind : nexts) {
      if (this.#size - this.#behind.size >= most) break
      if (!this.#behind.has(next) || !this.#isFirst(next)) continue
      this.#behind.delete(next)
      free.push(next)
    }
    return free
  }

  #isFirst(execution: Execution): boolean {
    return (execution.touches ?? []).every((thing) => this.#queues.get(thing)?.[0] === execution)
  }
}
