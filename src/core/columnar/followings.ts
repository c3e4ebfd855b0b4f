/** What follows from a message of a row: actuators, by the triggers that fire them; and edges of triggers as state bits. */
import { UNKNOWN, type GraphNode, type TriggerEdge } from '../graph/graph.ts'
import type { TaskModel } from '../task/run.ts'
import { MAY_END, type Holding, type Match } from '../task/state.ts'
import type { BatchShape } from './batch-shape.ts'
import { integersInPlace } from './fixed-memory.ts'
import { gateStates, type PossibleFiring } from './possible-firings.ts'

/** A trigger of the graph that holds: which part of it, and what its source showed before and shows now. */
export interface HoldingTrigger {
  readonly trigger: number
  readonly matched: Match
  readonly from: number
  readonly to: number
}

/** What fires, and after which sensor of those that the message runs. */
export interface Fires extends HoldingTrigger {
  readonly position: number
  /** the other triggers that hold */
  readonly also: readonly HoldingTrigger[]
}

/** One thing that follows from states: an actuator, and the trigger that fires it once it has cooled down. */
export interface Following extends Fires {
  readonly actuator: number
  readonly policyMs: number
  /** sensors or gates stand after it */
  readonly isEarly: boolean
  /** the next trigger that holds and waits for less; undefined: none does */
  readonly next: Following | undefined
  /** edges that the message changes when it fires, as bits, and what they are then */
  readonly edgeMask: number
  readonly edges: number
}

/** The first trigger that lets an actuator fire at a time that had fired last at another; of those that all hold it back, the last. */
export function chosen(following: Following, now: number, firedAt: number): Following {
  let one = following
  while (one.next !== undefined && now < firedAt + one.policyMs) one = one.next
  return one
}

/** Edges of the triggers to an actuator, as bits. */
export function edgesTo({ edges }: BatchShape, actuator: number): number {
  return edges.reduce((mask, edge) => mask | (edge.actuator === actuator ? 1 << edge.shift : 0), 0)
}

/** Whether a sensor or gate stands after an actuator. */
export function isEarly(nodes: readonly GraphNode[], actuator: GraphNode): boolean {
  return nodes.findLastIndex(({ kind }) => kind !== 'actuator') > nodes.indexOf(actuator)
}

/** The trigger that fires an actuator, and those that may instead: each waits for less than the one before. */
export function followingOf(
  { actuator, holding, position }: PossibleFiring,
  early: boolean,
  edgeMask: number,
  edges: number,
): Following {
  const common = { actuator: actuator.slot, position, isEarly: early, edgeMask, edges }
  const options = holding.filter(({ trigger: { policyMs } }, i) => {
    return holding.slice(0, i).every((other) => other.trigger.policyMs > policyMs)
  })
  const all = holding.map(holdingTrigger)
  const made = options.reduceRight<Following | undefined>((next, one) => {
    const also = all.filter(({ trigger }) => trigger !== one.trigger.order)
    return { ...holdingTrigger(one), ...common, also, policyMs: one.trigger.policyMs, next }
  }, undefined)
  return made as Following // at least one holds
}

function holdingTrigger({ trigger, matched, from, to }: Holding): HoldingTrigger {
  return { trigger: trigger.order, matched, from, to }
}

/** Bits of the edges of a trigger, by its order, of state bits. */
export function edgesOf({ edges }: BatchShape, trigger: number, bits: number): number {
  let own = 0
  for (const edge of edges) if (edge.trigger === trigger && (bits >> edge.shift) & 1) own |= edge.kind
  return own
}

/** Edges that are set when their sources show certain states, as bits, by key bits. */
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
