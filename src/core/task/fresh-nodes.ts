/** Creates the states of nodes that never worked. */
import { UNKNOWN } from '../graph/graph.ts'
import type { ActuatorState, GateState, SensorState } from './state.ts'

/** Shared, since a change replaces the list. */
const NONE: readonly never[] = []

export function freshGate(): GateState {
  return { state: UNKNOWN, memory: UNKNOWN, previous: UNKNOWN, before: UNKNOWN, since: -1, lost: -1 }
}

export function freshSensor(): SensorState {
  return {
    state: UNKNOWN,
    memory: UNKNOWN,
    previous: UNKNOWN,
    before: UNKNOWN,
    since: -1,
    lost: -1,
    firedAt: Number.NEGATIVE_INFINITY,
    firing: null,
    held: null,
    edges: NONE,
    error: null,
    collectedTime: -1,
    rawData: undefined,
    internalState: undefined,
    evictAt: Number.POSITIVE_INFINITY,
    origin: null,
    via: null,
    running: null,
    follow: null,
    ownTickAt: Number.POSITIVE_INFINITY,
    taken: null,
    news: NONE,
    late: NONE,
    evictLag: 0,
  }
}

export function freshActuator(): ActuatorState {
  return { firedAt: Number.NEGATIVE_INFINITY, firing: null, held: null, edges: NONE, error: null, answer: null }
}
