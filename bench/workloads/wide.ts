/** One rule of 1,000 nodes as plain facts: 500 sensors, 499 AND gates of two parents in a tree, an actuator. */
import { makeEvents, type BenchEvent } from '../events.ts'
import { independentFirings } from '../workload.ts'

export interface WideSensor {
  label: string
  parameter: 'temperature' | 'humidity'
  limit: number
}

export interface WideGate {
  label: string
  parents: readonly [string, string]
}

export interface WideRule {
  resource: string
  sensors: readonly WideSensor[]
  /** parents before children */
  gates: readonly WideGate[]
  root: string
}

type Condition = (event: BenchEvent) => boolean

const SENSORS = 500

/**
 * Rows of nodes, joined in pairs until one is left. All gates are AND: one that some of its parents decide would fire
 * again with each of the others, and the closure would have to do the same. Limits are low, so that half of the events fire.
 */
export function wideRule(): WideRule {
  const sensors = Array.from({ length: SENSORS }, (_, i): WideSensor =>
    i % 2 === 0
      ? { label: `s${i}`, parameter: 'temperature', limit: (i % 50) / 4 }
      : { label: `s${i}`, parameter: 'humidity', limit: 20 + (i % 20) },
  )
  const gates: WideGate[] = []
  let row = sensors.map(({ label }) => label)
  while (row.length > 1) {
    const next: string[] = []
    for (let i = 0; i < row.length; i += 2) {
      const [left = '', right] = row.slice(i, i + 2)
      if (right === undefined) {
        next.push(left)
        continue
      }
      const label = `g${gates.length}`
      gates.push({ label, parents: [left, right] })
      next.push(label)
    }
    row = next
  }
  return { resource: 'boiler-0', sensors, gates, root: row[0] ?? '' }
}

/** The rule by hand: a closure per node. */
export function wideCondition({ sensors, gates, root }: WideRule): Condition {
  const nodes = new Map<string, Condition>(
    sensors.map(({ label, parameter, limit }) => [label, (event) => event[parameter] > limit]),
  )
  for (const { label, parents } of gates) {
    const [left, right] = parents.map((parent) => nodes.get(parent))
    if (!left || !right) throw new Error(`wide: ${label} stands before its parents`)
    nodes.set(label, (event) => left(event) && right(event))
  }
  const condition = nodes.get(root)
  if (condition === undefined) throw new Error('wide: there is no root')
  return condition
}

export function wideEvents(rule: WideRule) {
  const events = makeEvents([rule.resource])
  const condition = wideCondition(rule)
  return { events, expected: independentFirings(events, (event) => (condition(event) ? 1 : 0)) }
}
