/**
 * Tracks the possible states of a thing, as known to one client that makes one change at a time: exactly one state
 * while every response arrives, several when one is lost.
 */
import type { Outcome } from '../world/world.ts'

/** Enough for all responses about one thing that a run can lose. */
const MOST_STATES = 256

export class Possible<S> {
  #states: readonly S[]

  constructor(state: S) {
    this.#states = [state]
  }

  get states(): readonly S[] {
    return this.#states
  }

  /**
   * Applies a change. `act` returns the new state; undefined: the change is refused in that state. Returns false when
   * no state fits the outcome.
   */
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

  /** Keeps only the states that fit what was seen. Returns false when none is left. */
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
