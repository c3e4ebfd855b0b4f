/** What one fresh process measures, as the parent asks for it, and what it answers. */
import type { FanOutSample } from './broker/fan-out.ts'
import type { BrokerDiskRequest, BrokerDiskSample } from './broker/disk.ts'
import type { BrokerLatencySample } from './broker/latency.ts'
import type { BrokerMemoryRequest, BrokerMemorySample } from './broker/memory.ts'
import type { BrokerPostsRequest, BrokerPostsSample } from './broker/posts.ts'
import type { AlarmsSample, AlarmsSubject } from './alarms/subject.ts'
import type { CellsRequest, CellsSample } from './cells.ts'
import type { ExpressionsSample, ExpressionSubject } from './expressions.ts'
import type { FleetSample } from './fleet.ts'
import type { FunctionsSample, FunctionsSubject } from './functions.ts'
import type { ImportsSample, ImportsSubject } from './imports.ts'
import type { HttpSample, HttpSubject } from './http.ts'
import type { MemoryKind, MemorySample } from './memory.ts'
import type { MonthSample, MonthWay } from './month.ts'
import type { SimulateSample } from './simulate.ts'
import type { Feed } from './throughput.ts'
import type { ThroughputSample } from '../subject.ts'
import type { HostBatchSample } from './host/batch-stop.ts'
import type { HostCreateSample } from './host/create.ts'
import type { HostListSample } from './host/list.ts'
import type { HostRestartSample } from './host/restart.ts'
import type { HostStartSample } from './host/start.ts'
import type { ClusterSample } from './cluster.ts'
import type { HandingSample, HandingSubject } from './handing.ts'
import type { SpreadSample } from './spread.ts'
import type { TakeoverSample, TakeoverSubject } from './takeover.ts'
import type { ObjectsSample, ObjectsSubject } from './objects.ts'
import type { QueriesSample, QuerySubject } from './queries.ts'
import type { QueryServiceSample, QueryServiceSubject } from './query-service.ts'
import type { RegistrySample, RegistrySubject } from './registry.ts'
import type { SeriesRequest, SeriesSample } from './series.ts'
import type { ResourcesSample, ResourcesSubject } from './resources/subject.ts'
import type { SchedulesSample } from './schedules.ts'
import type { SlowSensorRequest, SlowSensorSample } from './slow-sensor/subject.ts'
import type { StorageRequest, StorageSample } from './storage.ts'
import type { SweepSample, SweepWay } from './sweep.ts'
import type { TimersLoad, TimersSample } from './timers.ts'
import type { VelocityRequest, VelocitySample } from './velocity.ts'
import type { ModelsSample, ModelsSubject } from './models.ts'
import type { WebscriptsSample, WebscriptsSubject } from './webscripts.ts'
import type { WebscriptsDeployedSample, WebscriptsDeployedSubject } from './webscripts-deployed.ts'
import type { WideSample, WideSubject } from './wide.ts'

export type SampleRequest =
  | { kind: 'throughput'; workload: string; subject: string; feed: Feed; measureMs: number }
  | ({ kind: 'cells' } & CellsRequest)
  | { kind: 'simulate'; messages: number }
  | { kind: 'month'; way: MonthWay }
  | { kind: 'sweep'; way: SweepWay }
  | { kind: 'memory'; rules: number; what: MemoryKind }
  | { kind: 'fleet'; tasks: number; messages: number }
  | { kind: 'timers'; subject: string; load: TimersLoad; tasks: number }
  | { kind: 'schedules'; subject: string; expression: string }
  | { kind: 'expressions'; subject: ExpressionSubject; measureMs: number }
  | { kind: 'http'; subject: HttpSubject; measureMs: number }
  | ({ kind: 'storage' } & StorageRequest)
  | ({ kind: 'series' } & SeriesRequest)
  | { kind: 'queries'; subject: QuerySubject }
  | { kind: 'queryService'; subject: QueryServiceSubject }
  | { kind: 'alarms'; subject: AlarmsSubject }
  | { kind: 'resources'; subject: ResourcesSubject }
  | { kind: 'functions'; subject: FunctionsSubject }
  | { kind: 'imports'; subject: ImportsSubject }
  | { kind: 'registry'; subject: RegistrySubject }
  | { kind: 'webscripts'; subject: WebscriptsSubject }
  | { kind: 'webscripts-deployed'; subject: WebscriptsDeployedSubject }
  | { kind: 'models'; subject: ModelsSubject }
  | { kind: 'objects'; subject: ObjectsSubject }
  | { kind: 'cluster' }
  | { kind: 'handing'; subject: HandingSubject }
  | { kind: 'spread'; hosts: number }
  | { kind: 'takeover'; subject: TakeoverSubject }
  | { kind: 'hostCreate'; connections: number; measureMs: number }
  | { kind: 'hostList'; tasks: number }
  | { kind: 'hostStart'; tasks: number }
  | { kind: 'hostRestart'; tasks: number; heard: boolean }
  | { kind: 'hostBatch'; tasks: number }
  | ({ kind: 'brokerPosts' } & BrokerPostsRequest)
  | { kind: 'brokerFanOut'; subscribers: number }
  | { kind: 'brokerLatency'; share: number }
  | ({ kind: 'brokerMemory' } & BrokerMemoryRequest)
  | ({ kind: 'brokerDisk' } & BrokerDiskRequest)
  | ({ kind: 'slowSensor' } & SlowSensorRequest)
  | ({ kind: 'velocity' } & VelocityRequest)
  | { kind: 'wide'; subject: WideSubject; measureMs: number }

export type SampleKind = SampleRequest['kind']

/** The answer to each kind of request. */
export interface Samples {
  throughput: ThroughputSample
  cells: CellsSample
  simulate: SimulateSample
  month: MonthSample
  sweep: SweepSample
  memory: MemorySample
  fleet: FleetSample
  timers: TimersSample
  schedules: SchedulesSample
  expressions: ExpressionsSample
  http: HttpSample
  storage: StorageSample
  series: SeriesSample
  queries: QueriesSample
  queryService: QueryServiceSample
  alarms: AlarmsSample
  resources: ResourcesSample
  functions: FunctionsSample
  imports: ImportsSample
  registry: RegistrySample
  webscripts: WebscriptsSample
  'webscripts-deployed': WebscriptsDeployedSample
  models: ModelsSample
  objects: ObjectsSample
  cluster: ClusterSample
  handing: HandingSample
  spread: SpreadSample
  takeover: TakeoverSample
  hostCreate: HostCreateSample
  hostList: HostListSample
  hostStart: HostStartSample
  hostRestart: HostRestartSample
  hostBatch: HostBatchSample
  brokerPosts: BrokerPostsSample
  brokerFanOut: FanOutSample
  brokerLatency: BrokerLatencySample
  brokerMemory: BrokerMemorySample
  brokerDisk: BrokerDiskSample
  slowSensor: SlowSensorSample
  velocity: VelocitySample
  wide: WideSample
}

/** Modules are loaded when they are asked for: a sample of a peer must not pay for the engine's. */
export async function takeSample(request: SampleRequest): Promise<Samples[SampleKind]> {
  switch (request.kind) {
    case 'throughput':
      return (await import('./throughput.ts')).throughputSample(request)
    case 'cells':
      return (await import('./cells.ts')).cellsSample(request)
    case 'simulate':
      return (await import('./simulate.ts')).simulateSample(request.messages)
    case 'month':
      return (await import('./month.ts')).monthSample(request.way)
    case 'sweep':
      return (await import('./sweep.ts')).sweepSample(request.way)
    case 'memory':
      return (await import('./memory.ts')).memorySample(request.what, request.rules)
    case 'fleet':
      return (await import('./fleet.ts')).fleetSample(request.tasks, request.messages)
    case 'timers':
      return (await import('./timers.ts')).timersSample(request.subject, request.load, request.tasks)
    case 'schedules':
      return (await import('./schedules.ts')).schedulesSample(request.subject, request.expression)
    case 'expressions':
      return (await import('./expressions.ts')).expressionsSample(request.subject, request.measureMs)
    case 'http':
      return (await import('./http.ts')).httpSample(request.subject, request.measureMs)
    case 'storage':
      return (await import('./storage.ts')).storageSample(request)
    case 'series':
      return (await import('./series.ts')).seriesSample(request)
    case 'queries':
      return (await import('./queries.ts')).queriesSample(request.subject)
    case 'queryService':
      return (await import('./query-service.ts')).queryServiceSample(request.subject)
    case 'alarms':
      return (await import('./alarms/alarms.ts')).alarmsSample(request.subject)
    case 'resources':
      return (await import('./resources/resources.ts')).resourcesSample(request.subject)
    case 'imports':
      return (await import('./imports.ts')).importsSample(request.subject)
    case 'registry':
      return (await import('./registry.ts')).registrySample(request.subject)
    case 'objects':
      return (await import('./objects.ts')).objectsSample(request.subject)
    case 'cluster':
      return (await import('./cluster.ts')).clusterSample()
    case 'handing':
      return (await import('./handing.ts')).handingSample(request.subject)
    case 'spread':
      return (await import('./spread.ts')).spreadSample(request.hosts)
    case 'takeover':
      return (await import('./takeover.ts')).takeoverSample(request.subject)
    case 'functions':
      return (await import('./functions.ts')).functionsSample(request.subject)
    case 'models':
      return (await import('./models.ts')).modelsSample(request.subject)
    case 'webscripts':
      return (await import('./webscripts.ts')).webscriptsSample(request.subject)
    case 'webscripts-deployed':
      return (await import('./webscripts-deployed.ts')).webscriptsDeployedSample(request.subject)
    case 'hostCreate':
      return (await import('./host/create.ts')).hostCreateSample(request.connections, request.measureMs)
    case 'hostList':
      return (await import('./host/list.ts')).hostListSample(request.tasks)
    case 'hostRestart':
      return (await import('./host/restart.ts')).hostRestartSample(request.tasks, request.heard)
    case 'hostStart':
      return (await import('./host/start.ts')).hostStartSample(request.tasks)
    case 'hostBatch':
      return (await import('./host/batch-stop.ts')).hostBatchSample(request.tasks)
    case 'brokerPosts':
      return (await import('./broker/posts.ts')).brokerPostsSample(request)
    case 'brokerFanOut':
      return (await import('./broker/fan-out.ts')).fanOutSample(request.subscribers)
    case 'brokerLatency':
      return (await import('./broker/latency.ts')).brokerLatencySample(request.share)
    case 'brokerMemory':
      return (await import('./broker/memory.ts')).brokerMemorySample(request)
    case 'brokerDisk':
      return (await import('./broker/disk.ts')).brokerDiskSample(request)
    case 'slowSensor':
      return (await import('./slow-sensor/slow-sensor.ts')).slowSensorSample(request)
    case 'velocity':
      return (await import('./velocity.ts')).velocitySample(request)
    case 'wide':
      return (await import('./wide.ts')).wideSample(request.subject, request.measureMs)
  }
}
