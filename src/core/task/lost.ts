/** Determines what nodes lose when the rule of their task changes. */
import type { Graph } from '../graph/graph.ts'
import type { SavedDestination, SavedExecution, SavedSensor, SavedState } from './saved.ts'

/** memory: `internalState` of the plug. timer: of clock, eviction or a following result. call: made or queued. */
export const LOST_PARTS = ['state', 'memory', 'cool-down', 'timer', 'call', 'effects'] as const
export type LostPart = (typeof LOST_PARTS)[number]

export interface Lost {
  readonly node: string
  readonly what: readonly LostPart[]
}

interface Kept {
  readonly runnable: ReadonlySet<string>
  readonly clocks: ReadonlySet<string>
}

/** Returns losses in the order of the rule; nodes without losses are absent. `now`: epoch ms. */
export function lostBy(graph: Graph, saved: SavedState, kept: Kept, now: number): Lost[] {
  const nodes = [...graph.sensors, ...graph.actuators]
  return nodes.flatMap(({ label, kind }): Lost[] => {
    const sensor = kind === 'sensor' ? saved.sensors[label] : undefined
    if (kept.runnable.has(label)) {
      const losesClock = sensor?.ownTickAt !== undefined && !kept.clocks.has(label)
      return losesClock ? [{ node: label, what: ['timer'] }] : []
    }
    const destination = sensor ?? saved.actuators[label] ?? {}
    const executing = saved.executing?.filter(({ node }) => node === label) ?? []
    const what: LostPart[] = [
      ...partsOf(sensor),
      ...(isCooling(graph, label, destination, now) ? (['cool-down'] as const) : []),
      ...(hasTimer(sensor) || executing.some(isWaiting) ? (['timer'] as const) : []),
      ...(executing.some((one) => isCall(one, kind)) ? (['call'] as const) : []),
      ...(executing.some((one) => isEffect(one, kind)) ? (['effects'] as const) : []),
    ]
    return what.length === 0 ? [] : [{ node: label, what }]
  })
}

function partsOf(sensor: SavedSensor | undefined): LostPart[] {
  if (sensor === undefined) return []
  const { state, memory, rawData, internalState } = sensor
  const showed = [state, memory, rawData].some((one) => one !== undefined)
  return [...(showed ? (['state'] as const) : []), ...(internalState === undefined ? [] : (['memory'] as const))]
}

function isCooling({ triggers }: Graph, label: string, { firedAt }: SavedDestination, now: number): boolean {
  if (firedAt === undefined) return false
  return triggers.some(({ destination, policyMs }) => destination.label === label && now < firedAt + policyMs)
}

function hasTimer(sensor: SavedSensor | undefined): boolean {
  return (sensor?.evictAt ?? sensor?.follow ?? sensor?.ownTickAt) !== undefined
}

function isWaiting({ phase }: Pick<SavedExecution, 'phase'>): boolean {
  return phase === 'holding' || phase === 'paused' || phase === 'retrying'
}

function isCall({ phase }: SavedExecution, kind: Kind): boolean {
  return phase === 'called' || phase === 'rendering' || (kind === 'sensor' && !isWaiting({ phase }))
}

function isEffect({ phase }: SavedExecution, kind: Kind): boolean {
  return kind === 'actuator' && (phase === 'queued' || phase === 'behind')
}

type Kind = 'sensor' | 'actuator'
