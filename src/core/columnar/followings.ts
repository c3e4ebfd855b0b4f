/**
 * Computes the consequences of a row's message: which triggers fire which actuators, and how trigger edges change the
 * state bits.
 */
import { UNKNOWN, type TriggerEdge } from '../graph/graph.ts'
import type { TaskModel } from '../task/run.ts'
import { MAY_END, type Holding, type Match } from '../task/state.ts'
import type { BatchShape } from './batch-shape.ts'
import { integersInPlace } from './fixed-memory.ts'
import { gateStates, type PossibleFiring } from './possible-firings.ts'

/** A graph trigger that holds, with its index and what its source showed before and shows now. */
export interface HoldingTrigger {
  readonly trigger: number
  readonly matched: Match
  readonly from: number
  readonly to: number
}

/** An actuator's firing, with the position of the last sensor that runs before it. */
export interface Fires extends HoldingTrigger {
  readonly position: number
  /** the other triggers that hold */
  readonly also: readonly HoldingTrigger[]
}

/** One consequence of states: a trigger fires an actuator that has cooled down. */
export interface Following extends Fires {
  readonly actuator: number
  readonly policyMs: number
  /** mask and new values of the edge bits that this firing changes */
  readonly edgeMask: number
  readonly edges: number
}

/** Returns the edges of the triggers to an actuator, as bits. */
export function edgesTo({ edges }: BatchShape, actuator: number): number {
  return edges.reduce((mask, edge) => mask | (edge.actuator === actuator ? 1 << edge.shift : 0), 0)
}

export function followingOf(
  { actuator, holding, position }: PossibleFiring,
  edgeMask: number,
  edges: number,
): Following {
  const [one, ...others] = holding as readonly [Holding, ...Holding[]] // at least one holds
  const { policyMs } = one.trigger
  const also = others.map(holdingTrigger)
  return { ...holdingTrigger(one), actuator: actuator.slot, position, also, policyMs, edgeMask, edges }
}

function holdingTrigger({ trigger, matched, from, to }: Holding): HoldingTrigger {
  return { trigger: trigger.order, matched, from, to }
}

/** Returns the edge bits of the trigger with this order, taken from state bits. */
export function edgesOf({ edges }: BatchShape, trigger: number, bits: number): number {
  let own = 0
  for (const edge of edges) if (edge.trigger === trigger && (bits >> edge.shift) & 1) own |= edge.kind
  return own
}

/** Returns, by key bits, the edges that are set for these source states. */
export function edgeBitsOf({ edges, sensors, keyBits }: BatchShape, { graph, settings }: TaskModel): Int32Array {
  const bits = integersInPlace(edges.length === 0 ? 1 : 2 ** keyBits)
  for (let key = 0; key < bits.length && edges.length > 0; key++) {
    const states: number[] = []
    for (const { slot, shift, mask } of sensors) states[slot] = (key >> shift) & mask
    const gates = gateStates(graph, states, settings.gatesNeedFullObservation)
    for (const { trigger, kind, shift } of edges) {
      const { source, begins, ends } = graph.triggers[trigger] as TriggerEdge
      const state = (source.kind === 'gate' ? gates : states)[source.slot] ?? UNKNOWN
      const set = kind === MAY_END ? ends : begins
      if (set?.[state] === true) bits[key] = (bits[key] ?? 0) | (1 << shift)
    }
  }
  return bits
}
