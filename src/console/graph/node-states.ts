/** States of a task's nodes at one instant: from the host's view, then from each event of its stream. */
import { type Band, bandAt } from '../plot/bands.ts'
import type { RuleView, ViewTrigger } from './rule-view.ts'
import { wantedOf } from '../words/rules.ts'

export interface NodeState {
  /** null: unknown */
  readonly state: string | null
  /** epoch ms since when it has that state, as far as known */
  readonly since?: number | undefined
  /** it has that state for longer, but what was before is not known */
  readonly isLonger?: boolean
  /** epoch ms of the last run */
  readonly ranAt?: number | undefined
  readonly value?: unknown
  readonly error?: string | undefined
  readonly firedAt?: number | undefined
  /** the actuator has fired, and its call has not returned */
  readonly isCalling?: boolean
}

export type NodeStates = ReadonlyMap<string, NodeState>

/** The fields of an event that change what is shown; see `EngineEvent`. */
export interface ShownEvent {
  readonly type: string
  readonly time: number
  readonly node?: string
  readonly source?: string
  readonly to?: string | null
  readonly ok?: boolean
  readonly error?: string
  readonly rawData?: unknown
}

interface ViewedNode {
  readonly node: string
  readonly kind: string
  readonly mostLikelyState: { readonly state: string; readonly probability: number } | null
  readonly rawData?: unknown
  readonly collectedTime?: number
  readonly error?: { readonly message: string }
}

interface ViewedTimer {
  readonly kind: string
  readonly node?: string | undefined
}

/** Reads the host's view. A state that was known before keeps its beginning. */
export function fromView(
  nodes: readonly ViewedNode[],
  before: NodeStates = new Map(),
  timers: readonly ViewedTimer[] = [],
): NodeStates {
  const calling = new Set(timers.filter(({ kind }) => kind === 'call').map(({ node }) => node))
  return new Map(
    nodes.map(({ node, kind, mostLikelyState, rawData, collectedTime, error }) => {
      const known = before.get(node)
      const state = mostLikelyState !== null && mostLikelyState.probability > 0.5 ? mostLikelyState.state : null
      const isSame = known?.state === state
      const next: NodeState = {
        state,
        since: isSame ? known.since : undefined,
        ranAt: collectedTime,
        value: measured(rawData),
        error: error?.message,
        firedAt: kind === 'actuator' ? (collectedTime ?? known?.firedAt) : known?.firedAt,
        ...(kind === 'actuator' && calling.has(node) && { isCalling: true }),
      }
      return [node, next] as const
    }),
  )
}

/** Returns the value that a plug measured, from its raw data. */
export function measured(rawData: unknown): unknown {
  if (typeof rawData !== 'object' || rawData === null) return rawData
  const data = rawData as Readonly<Record<string, unknown>>
  for (const name of ['data', 'value', 'result']) {
    const value = data[name]
    if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return value
  }
  return undefined
}

/**
 * Applies one event. A sensor that is cleared and then observes the same state again within one input keeps the
 * beginning of that state.
 */
export function apply(states: NodeStates, event: ShownEvent): NodeStates {
  const { node, time } = event
  if (node === undefined) return states
  const before = states.get(node) ?? { state: null }
  const next = changed(before, event, time)
  if (next === before) return states
  return new Map(states).set(node, next)
}

function changed(before: NodeState, event: ShownEvent, time: number): NodeState {
  switch (event.type) {
    case 'state':
    case 'gate': {
      const state = event.to ?? null
      return state === before.state ? { ...before, ranAt: time } : { ...before, state, since: time, ranAt: time }
    }
    case 'evicted':
      return { ...before, state: null, since: time, value: undefined }
    case 'result':
      return event.ok === false
        ? { ...before, error: event.error ?? 'failed', ranAt: time, isCalling: false }
        : { ...before, error: undefined, ranAt: time, isCalling: false, value: measured(event.rawData) ?? before.value }
    case 'fired':
      return { ...before, firedAt: time }
    default:
      return before
  }
}

/** Adds since when each state lasts, as far as the bands show it. */
export function withBeginnings(
  states: NodeStates,
  bands: ReadonlyMap<string, readonly Band[]> | undefined,
  instant: number,
): NodeStates {
  if (bands === undefined) return states
  return new Map(
    [...states].map(([node, state]) => {
      const band = bandAt(bands.get(node), instant)
      const isOlder =
        band !== undefined && band.state === state.state && !(state.since !== undefined && state.since < band.from)
      return [node, isOlder ? { ...state, since: band.from, isLonger: bands.get(node)?.[0] === band } : state] as const
    }),
  )
}

export type EdgeState = 'match' | 'no match' | 'unknown' | 'fired' | 'held'

export interface ViewEdge {
  readonly from: string
  readonly to: string
  readonly state: EdgeState
}

/** How near a firing is to the instant to be drawn as happening, in ms */
const NOW = 1_500

/** Returns the edges with their states: parents of gates, then triggers. */
export function edgesOf(rule: RuleView, states: NodeStates, instant: number): readonly ViewEdge[] {
  const ofGates = rule.nodes.flatMap((gate) =>
    gate.parents.map((parent, at): ViewEdge => {
      const state = states.get(parent)?.state ?? null
      const wanted = gate.rows.map((row) => row[at])
      return {
        from: parent,
        to: gate.label,
        state: state === null ? 'unknown' : wanted.includes(state) ? 'match' : 'no match',
      }
    }),
  )
  return [...ofGates, ...rule.triggers.map((trigger) => triggerEdge(trigger, states, instant))]
}

/** Returns the end of the cool-down that holds the trigger at the instant, epoch ms. */
export function coolsUntil(trigger: ViewTrigger, states: NodeStates, instant: number): number | undefined {
  const firedAt = states.get(trigger.destination)?.firedAt
  const until = firedAt === undefined ? 0 : firedAt + trigger.coolDown
  return until > instant ? until : undefined
}

function triggerEdge(trigger: ViewTrigger, states: NodeStates, instant: number): ViewEdge {
  const { source: from, destination: to } = trigger
  const destination = states.get(to)
  const state = states.get(from)?.state ?? null
  const isMatch = state !== null && wantedOf(trigger).includes(state)
  if (
    destination?.firedAt !== undefined &&
    Math.abs(instant - destination.firedAt) < NOW &&
    (isMatch || wantedOf(trigger).length === 0)
  )
    return { from, to, state: 'fired' }
  if (isMatch && coolsUntil(trigger, states, instant) !== undefined) return { from, to, state: 'held' }
  return { from, to, state: state === null ? 'unknown' : isMatch ? 'match' : 'no match' }
}

/** Whether a node matches: a sensor when an edge from it does, a gate when it is TRUE. */
export function matchOf(
  label: string,
  kind: string,
  edges: readonly ViewEdge[],
  states: NodeStates,
): 'match' | 'no match' | 'unknown' {
  const state = states.get(label)?.state ?? null
  if (kind === 'actuator') return 'no match'
  if (state === null) return 'unknown'
  if (kind === 'gate') return state === 'TRUE' ? 'match' : 'no match'
  return edges.some((edge) => edge.from === label && edge.state !== 'no match' && edge.state !== 'unknown')
    ? 'match'
    : 'no match'
}
