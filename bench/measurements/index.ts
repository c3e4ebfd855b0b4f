/** Measurements by the name in `--only`, in the order of reports. */
import type { Measurement } from '../measurement.ts'
import { brokerArrays, brokerDisk, brokerFanOut, brokerLatency, brokerPosts } from './broker.ts'
import { cells } from './cells.ts'
import { takeover } from './cluster.ts'
import { console } from './console.ts'
import { fleet, memory, simulations, slowSensor } from './engine.ts'
import { hostCreate, hostList, hostRestart, hostStart } from './host.ts'
import { kafka } from './kafka.ts'
import { connectors } from './connectors.ts'
import { access, alarms, functions, neighbours, registry, rehearsal, resources, rollouts, rules } from './services.ts'
import { throughput } from './throughput.ts'

export const measurements: ReadonlyMap<string, Measurement> = new Map(
  [
    ...throughput,
    cells,
    slowSensor,
    simulations,
    memory,
    fleet,
    access,
    neighbours,
    alarms,
    resources,
    functions,
    registry,
    rehearsal,
    rules,
    connectors,
    rollouts,
    console,
    kafka,
    takeover,
    hostCreate,
    hostList,
    hostStart,
    hostRestart,
    brokerPosts,
    brokerArrays,
    brokerFanOut,
    brokerLatency,
    brokerDisk,
  ].map((one) => [one.name, one]),
)

/** Names of groups for `--only`. */
export const groups: ReadonlyMap<string, readonly string[]> = new Map([
  ['workloads', ['w1', 'w1d', 'w2', 'w3', 'w4', 'w5', 'w7']],
  ['host', ['host-create', 'host-list', 'host-start', 'fleet']],
  ['broker', ['broker-posts', 'broker-arrays', 'broker-fan-out', 'broker-latency', 'broker-disk']],
])
