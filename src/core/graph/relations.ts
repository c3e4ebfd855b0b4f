/** Decides three-valued gates: a gate is certain once its known parents decide it. */
import { allowedNumbers } from '../rule/count-limits.ts'
import type { RelationType } from '../rule/rule.ts'
import { FALSE, TRUE, UNKNOWN, type GateNode } from './graph.ts'

export interface HasState {
  readonly state: number
}

type Decide = (gate: GateNode, nodes: readonly HasState[]) => number

export const RELATIONS: Readonly<Record<RelationType, Decide>> = {
  AND: and,
  OR: or,
  NAND: nand,
  GENERAL: general,
  COUNT: count,
  SHARE: count,
}

/** Returns TRUE, FALSE or UNKNOWN. With `needsAll` an unknown parent makes the gate unknown. */
export function decide(gate: GateNode, nodes: readonly HasState[], needsAll: boolean): number {
  if (needsAll && gate.inputs.some((input) => stateAt(nodes, input.index) === UNKNOWN)) return UNKNOWN
  return RELATIONS[gate.type](gate, nodes)
}

function and(gate: GateNode, nodes: readonly HasState[]): number {
  let result = TRUE
  for (const input of gate.inputs) {
    const state = stateAt(nodes, input.index)
    if (state === UNKNOWN) result = UNKNOWN
    else if (state !== input.wanted) return FALSE
  }
  return result
}

function or(gate: GateNode, nodes: readonly HasState[]): number {
  let result = FALSE
  for (const input of gate.inputs) {
    const state = stateAt(nodes, input.index)
    if (state === input.wanted) return TRUE
    if (state === UNKNOWN) result = UNKNOWN
  }
  return result
}

function nand(gate: GateNode, nodes: readonly HasState[]): number {
  const result = and(gate, nodes)
  return result === UNKNOWN ? UNKNOWN : TRUE + FALSE - result
}

function general(gate: GateNode, nodes: readonly HasState[]): number {
  let key = 0
  let allKnown = true
  let completions = 1
  for (const input of gate.inputs) {
    const state = stateAt(nodes, input.index)
    if (state === UNKNOWN) {
      allKnown = false
      completions *= input.size
    } else key = key * input.size + state
  }
  if (allKnown && gate.rowKeys.size > 0) return gate.rowKeys.has(key) ? TRUE : FALSE
  let listed = 0
  for (const row of gate.rows) if (compatible(gate, row, nodes)) listed++
  if (listed === 0) return FALSE
  return listed === completions ? TRUE : UNKNOWN
}

function count(gate: GateNode, nodes: readonly HasState[]): number {
  let certain = 0
  let possible = 0
  for (const input of gate.inputs) {
    const state = stateAt(nodes, input.index)
    if (state === input.wanted) certain++
    else if (state === UNKNOWN) possible++
  }
  return decideCount(gate, certain, certain + possible, gate.inputs.length)
}

/** Decides COUNT or SHARE when from `low` to `high` of all are in their state. */
export function decideCount({ type, limits }: GateNode, low: number, high: number, all: number): number {
  const [least, most] = allowedNumbers({ type, ...limits }, all)
  if (high < least || low > most) return FALSE
  return low >= least && high <= most ? TRUE : UNKNOWN
}

function compatible(gate: GateNode, row: readonly number[], nodes: readonly HasState[]): boolean {
  let column = 0
  for (const input of gate.inputs) {
    const state = stateAt(nodes, input.index)
    if (state !== UNKNOWN && state !== row[column]) return false
    column++
  }
  return true
}

function stateAt(nodes: readonly HasState[], index: number): number {
  return (nodes[index] as HasState).state // indexes come from the compiler
}
