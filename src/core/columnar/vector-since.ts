/** Works out when each node in a vectorized batch last changed state, from the messages its rows processed together. */
import { type TakenTogether, VectorFailures } from './vector-failures.ts'
import type { VectorDependencies } from './vector-code.ts'
import { FIRST } from './vector-past.ts'

export class VectorSince {
  readonly failures: VectorFailures
  /** whether some messages did not decide the firing condition */
  hasUndecided = false
  readonly #parts: VectorDependencies
  readonly #taken: TakenTogether

  constructor(parts: VectorDependencies, taken: TakenTogether) {
    this.#parts = parts
    this.#taken = taken
    this.failures = new VectorFailures(parts, taken, (i, place, target) => this.set(i, place, target, 0))
  }

  /**
   * Sets when nodes entered their states, up to a message; nodes unchanged since the first message are left as they
   * are. `knowsTurns`: the row has fired at most once after the message, so its firings determine the nodes that change
   * with them.
   */
  set(i: number, place: number, target: Float64Array | number[], at: number, knowsTurns = false): void {
    const { changes, lastChange, turning, store } = this.#parts
    const { limits, values } = this.#taken
    const { bits } = store.shape
    let missing = this.#mayHaveChanged(i)
    let found = 0
    const turn = knowsTurns && (missing & turning) !== 0 ? this.#lastTurn(i, place) : undefined
    if (turn !== undefined) {
      if (turn >= FIRST) found = missing & turning
      this.#setTimes(found, turn, target, at)
      missing &= ~turning
    }
    if (!this.failures.isEmpty) {
      found |= this.#setGates(i, place, missing, target, at)
      missing &= 2 ** store.shape.sensors.length - 1
    }
    for (let from = place; missing !== 0 && from >= FIRST; from--) {
      from = lastChange(limits, i, values, from, FIRST, missing, changes)
      if (from < FIRST) break
      const states = this.#taken.statesAt(i, from)
      const changed = (changes[(this.#taken.statesAt(i, from - 1) << bits) | states] ?? 0) & missing
      found |= changed
      missing &= ~changed
      this.#setTimes(changed, from, target, at)
    }
    const first = changes[(this.#taken.statesAt(i, 0) << bits) | this.#taken.statesAt(i, 1)] ?? 0
    this.#setTimes(first & ~found, 1, target, at)
  }

  #setGates(i: number, place: number, asked: number, target: Float64Array | number[], at: number): number {
    const { sensors, gates } = this.#parts.store.shape
    let found = 0
    for (let g = 0; g < gates; g++) {
      const node = 1 << (sensors.length + g)
      if ((asked & node) === 0) continue
      const change = this.failures.lastChangeOf(g, i, place)
      if (change < FIRST) continue
      found |= node
      this.#setTimes(node, change, target, at)
    }
    return found
  }

  /**
   * Returns the last message up to a place at which firing began or ended; 0: none, undefined: it must be searched for.
   */
  #lastTurn(i: number, place: number): number | undefined {
    if (this.hasUndecided) return undefined
    const firing = this.#taken.history.lastUpTo(i, place)
    if (firing === place || this.failures.has(Math.max(firing + 1, FIRST))) return undefined
    if (firing !== 0) return firing + 1
    const { changes, turning, store } = this.#parts
    const states = (place: number): number => this.#taken.statesAt(i, place)
    const second = changes[(states(FIRST - 1) << store.shape.bits) | states(FIRST)] ?? 0
    return (second & turning) === 0 || place < FIRST ? 0 : FIRST
  }

  #setTimes(nodes: number, place: number, target: Float64Array | number[], at: number): void {
    for (let left = nodes; left !== 0;) {
      const node = 31 - Math.clz32(left)
      target[at + node] = this.#taken.times[place] ?? 0
      left &= ~(1 << node)
    }
  }

  /** Returns the nodes that may have changed since the first message. */
  #mayHaveChanged(i: number): number {
    const { statesAt, parameters, mayChange, store } = this.#parts
    const { limits, bounds } = this.#taken
    const least = statesAt(limits, i, bounds, 0)
    const greatest = statesAt(limits, i, bounds, parameters)
    return mayChange[(least << store.shape.bits) | greatest] ?? 0
  }
}
