/**
 * Queues the unfinished acting calls of one task in the order in which they fired.
 *
 * QUEUE-1 calls on one thing begin in the order in which they entered the queues
 * QUEUE-2 a call enters all its queues at once, so that no two wait for each other
 */
import type { Execution } from './state.ts'

export class EffectQueues {
  readonly #queues = new Map<string, Execution[]>()
  readonly #behind = new Set<Execution>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get behind(): number {
    return this.#behind.size
  }

  get waiting(): Iterable<Execution> {
    return this.#behind
  }

  get oldestBehind(): Execution | undefined {
    for (const execution of this.#behind) return execution
    return undefined
  }

  /** Enters the queues; returns true if the execution may begin. `most`: maximum number of calls in progress. */
  enqueue(execution: Execution, touches: readonly string[], most: number): boolean {
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
      const index = queue.indexOf(execution)
      if (index !== -1) queue.splice(index, 1)
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
