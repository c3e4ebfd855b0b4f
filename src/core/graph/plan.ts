/** Computes plans of invocations when a rule is compiled. */
import { NO_CHANNELS, type ChannelPlans, type GateNode, type Graph, type Plan, type SensorNode } from './graph.ts'

export function makePlan(sensors: readonly SensorNode[]): Plan {
  const ordered = sensors.toSorted((a, b) => a.slot - b.slot)
  const reset = withFollowers(ordered)
  return { sensors: ordered, reset, resetGates: gatesBehind(reset) }
}

/** Returns plans by channel and resource. `indexOf` maps a sensor's resource to its index. */
export function channelPlans(
  sensors: readonly SensorNode[],
  count: number,
  indexOf: (resource: number) => number,
): ChannelPlans {
  const channels = new Set(sensors.map(({ channel }) => channel).filter((channel) => channel !== undefined))
  if (channels.size === 0) return NO_CHANNELS
  const plansOf = (channel: string): readonly Plan[] =>
    Array.from({ length: count }, (_, index) =>
      makePlan(
        sensors.filter((one) => one.channel === channel && one.resource !== -1 && indexOf(one.resource) === index),
      ),
    )
  return new Map([...channels].map((channel) => [channel, plansOf(channel)]))
}

export function wipePlan(graph: Pick<Graph, 'sensors'>): Plan {
  return { sensors: [], reset: graph.sensors, resetGates: gatesBehind(graph.sensors) }
}

function withFollowers(roots: readonly SensorNode[]): readonly SensorNode[] {
  const found = new Set<SensorNode>(roots)
  for (const sensor of found) {
    for (const trigger of sensor.triggers) {
      if (trigger.destination.kind === 'sensor') found.add(trigger.destination)
    }
  }
  return [...found].toSorted((a, b) => a.slot - b.slot)
}

function gatesBehind(sensors: readonly SensorNode[]): readonly GateNode[] {
  const found = new Set(sensors.flatMap((sensor) => sensor.gates))
  return [...found].toSorted((a, b) => a.index - b.index)
}
