/** The table of measurements, by the name that `--only` takes, in the order in which reports show them. */
import type { Measurement } from '../measurement.ts'
import { alarms } from './alarms.ts'
import { brokerArrays, brokerDisk, brokerFanOut, brokerLatency, brokerMemory, brokerPosts } from './broker.ts'
import { cells } from './cells.ts'
import { expressions } from './expressions.ts'
import { functions } from './functions.ts'
import { imports } from './imports.ts'
import { registry } from './registry.ts'
import { growth } from './growth.ts'
import { hostBatch, hostCreate, hostList, hostRestart, hostStart } from './host.ts'
import { http } from './http.ts'
import { fleet, memory } from './memory.ts'
import { cluster } from './cluster.ts'
import { handing } from './handing.ts'
import { spread } from './spread.ts'
import { takeover } from './takeover.ts'
import { objects } from './objects.ts'
import { queries } from './queries.ts'
import { month, simulations } from './recordings.ts'
import { queryService } from './query-service.ts'
import { resources } from './resources.ts'
import { schedules } from './schedules.ts'
import { series } from './series.ts'
import { slowSensor } from './slow-sensor.ts'
import { storage } from './storage.ts'
import { sweep } from './sweep.ts'
import { throughput } from './throughput.ts'
import { timers } from './timers.ts'
import { velocity } from './velocity.ts'
import { models } from './models.ts'
import { webscripts } from './webscripts.ts'
import { webscriptsDeployed } from './webscripts-deployed.ts'
import { wide } from './wide.ts'

export const measurements: ReadonlyMap<string, Measurement> = new Map(
  [
    ...throughput,
    cells,
    slowSensor,
    wide,
    growth,
    simulations,
    month,
    sweep,
    memory,
    fleet,
    timers,
    schedules,
    expressions,
    velocity,
    http,
    storage,
    series,
    queries,
    queryService,
    alarms,
    resources,
    functions,
    registry,
    imports,
    webscripts,
    webscriptsDeployed,
    models,
    objects,
    cluster,
    handing,
    spread,
    takeover,
    hostCreate,
    hostList,
    hostStart,
    hostRestart,
    hostBatch,
    brokerPosts,
    brokerArrays,
    brokerFanOut,
    brokerLatency,
    brokerMemory,
    brokerDisk,
  ].map((one) => [one.name, one]),
)

/** Short for several, where `--only` takes them. */
export const groups: ReadonlyMap<string, readonly string[]> = new Map([
  ['workloads', ['w1', 'w1d', 'w2', 'w3', 'w4', 'w5', 'w7']],
  ['host', ['host-create', 'host-list', 'host-start', 'host-batch', 'fleet', 'http']],
  ['broker', ['broker-posts', 'broker-arrays', 'broker-fan-out', 'broker-latency', 'broker-memory', 'broker-disk']],
  ['no-codegen', [...measurements.keys()].filter((name) => name.endsWith('-no-codegen'))],
])
