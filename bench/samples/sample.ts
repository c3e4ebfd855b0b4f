/** Samples of a fresh process: requests and results. */

/** lazily loaded: a sample of a peer must not load the engine */
const SAMPLES = {
  throughput: async () => (await import('./throughput.ts')).throughputSample,
  cells: async () => (await import('./cells.ts')).cellsSample,
  simulate: async () => (await import('./simulate.ts')).simulateSample,
  memory: async () => (await import('./memory.ts')).memorySample,
  fleet: async () => (await import('./fleet.ts')).fleetSample,
  slowSensor: async () => (await import('./slow-sensor/slow-sensor.ts')).slowSensorSample,
  alarms: async () => (await import('./alarms.ts')).alarmsSample,
  resources: async () => (await import('./resources.ts')).resourcesSample,
  functions: async () => (await import('./functions.ts')).functionsSample,
  rehearsal: async () => (await import('./rehearsal.ts')).rehearsalSample,
  rollouts: async () => (await import('./rollouts.ts')).rolloutsSample,
  console: async () => (await import('./console.ts')).consoleSample,
  kafka: async () => (await import('./kafka.ts')).kafkaSample,
  rules: async () => (await import('./rules.ts')).rulesSample,
  connectors: async () => (await import('./connectors.ts')).connectorsSample,
  access: async () => (await import('./access.ts')).accessSample,
  neighbours: async () => (await import('./neighbours.ts')).neighboursSample,
  registry: async () => (await import('./registry.ts')).registrySample,
  takeover: async () => (await import('./takeover.ts')).takeoverSample,
  hostCreate: async () => (await import('./host/create.ts')).hostCreateSample,
  hostList: async () => (await import('./host/list.ts')).hostListSample,
  hostStart: async () => (await import('./host/start.ts')).hostStartSample,
  hostRestart: async () => (await import('./host/restart.ts')).hostRestartSample,
  brokerPosts: async () => (await import('./broker/posts.ts')).brokerPostsSample,
  brokerFanOut: async () => (await import('./broker/fan-out.ts')).fanOutSample,
  brokerLatency: async () => (await import('./broker/latency.ts')).brokerLatencySample,
  brokerDisk: async () => (await import('./broker/disk.ts')).brokerDiskSample,
}

export type SampleKind = keyof typeof SAMPLES

type Taker<Kind extends SampleKind> = Awaited<ReturnType<(typeof SAMPLES)[Kind]>>

export type SampleRequest<Kind extends SampleKind = SampleKind> = {
  [Each in Kind]: { readonly kind: Each } & Parameters<Taker<Each>>[0]
}[Kind]

export type Samples = { [Kind in SampleKind]: Awaited<ReturnType<Taker<Kind>>> }

export async function takeSample(request: SampleRequest): Promise<Samples[SampleKind]> {
  const take = (await SAMPLES[request.kind]()) as (request: SampleRequest) => Promise<Samples[SampleKind]>
  return take(request)
}
