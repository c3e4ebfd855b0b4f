/** What one fresh process measures, as the parent asks for it, and what it answers. */
import type { MemoryKind, MemorySample } from './memory-sample.ts'
import type { SimulateSample } from './simulate-sample.ts'
import { throughputSample, type ThroughputSample } from './throughput-sample.ts'

export type SampleRequest =
  | { kind: 'throughput'; workload: string; subject: string; measureMs: number }
  | { kind: 'simulate'; messages: number }
  | { kind: 'memory'; rules: number; limits: MemoryKind }

/** The answer to each kind of request. */
export interface Samples {
  throughput: ThroughputSample
  simulate: SimulateSample
  memory: MemorySample
}

export async function takeSample(request: SampleRequest): Promise<Samples[SampleRequest['kind']]> {
  // Loaded when asked for: a sample of a peer must not pay for the engine's modules.
  if (request.kind === 'simulate') return (await import('./simulate-sample.ts')).simulateSample(request.messages)
  if (request.kind === 'memory') {
    return (await import('./memory-sample.ts')).memorySample(request.limits, request.rules)
  }
  return throughputSample(request.workload, request.subject, request.measureMs)
}
