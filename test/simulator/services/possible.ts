/**
 * What a thing may be like, as far as one client can know that asks for one change after the other: exactly one state
 * as long as every answer came, and more of them when one did not.
 */
import type { Outcome } from '../world/world.ts'

/** Enough for all answers that one run can lose about one thing. */
const MOST_STATES = 256

export class Possible<S> {
  #states: readonly S[]

  constructor(state: S) {
    this.#states = [state]
  }

  get states(): readonly S[] {
    return this.#states
  }

  /** A change that gives another state; undefined: it is refused in that state. False when no state fits the outcome. */
  change(outcome: Outcome['kind'], act: (state: S) => S | undefined): boolean {
    if (outcome === 'unknown') {
      const changed = this.#states.flatMap((state) => {
        const after = act(state)
        return after === undefined ? [] : [after]
      })
      this.#set([...this.#states, ...changed])
      return true
    }
    const next = this.#states.flatMap((state) => {
      const after = act(state)
      if (outcome === 'refused') return after === undefined ? [state] : []
      return after === undefined ? [] : [after]
    })
    return this.#set(next)
  }

  /** What was seen: only these states are left. False when none is. */
  see(fits: (state: S) => boolean): boolean {
    return this.#set(this.#states.filter(fits))
  }

  #set(states: readonly S[]): boolean {
    if (states.length === 0) return false
    const different = new Map(states.map((state) => [JSON.stringify(state), state]))
    this.#states = [...different.values()].slice(0, MOST_STATES)
    return true
  }
}
