/** One sample: what a running rule costs in memory, and what its start costs in time. Needs `--expose-gc`. */
import { builtins } from '../plugins/index.ts'
import { createEngine } from '../src/index.ts'
import { definePlug } from '../src/plug.ts'
import { resourceNames, START_MS } from './events.ts'
import { thresholdRule } from './subjects/bench-rules.ts'
import { clockScheduler } from './subjects/clock-scheduler.ts'
import { cpuMs } from './throughput-sample.ts'
import { w1 } from './workloads/w1.ts'

export interface MemorySample {
  rules: number
  /** heap in use per rule, bytes, after a full collection */
  heapPerRule: number
  /** CPU per `engine.start`, microseconds */
  microsPerStart: number
  /** resident set of the process with all rules in it, bytes */
  rss: number
}

/** `same`: one rule for all resources, as a template is; `different`: each rule with limits of its own. */
export type MemoryKind = 'same' | 'different'

export async function memorySample(kind: MemoryKind, rules: number): Promise<MemorySample> {
  const workload = w1()
  const resources = resourceNames(rules)
  const ruleAt = (i: number) =>
    thresholdRule({ resource: '$', temperature: 20 + (i % 1000) / 10, humidity: 50 + (i % 21) }, workload, 'streaming')
  // Rules are made beforehand: their own size is the user's, what the engine keeps of them is not.
  const documents = kind === 'same' ? [ruleAt(0)] : resources.map((_, i) => ruleAt(i))
  const count = definePlug({ name: 'count', version: '1.0.0', kind: 'actuator', execute() {} })
  const engine = createEngine({ plugs: [...builtins, count], scheduler: clockScheduler({ now: START_MS }), why: false })

  const heapBefore = heapUsed()
  const cpuBefore = cpuMs()
  for (const [i, resource] of resources.entries()) {
    const rule = documents[i % documents.length]
    if (rule !== undefined) await engine.start(rule, { resource })
  }
  const cpu = cpuMs() - cpuBefore
  const heap = heapUsed() - heapBefore
  if (engine.tasks.size !== rules) throw new Error(`memory: ${engine.tasks.size} tasks run, ${rules} were started`)
  // Used after the measurement, so that nothing is collected during it.
  if (documents.length > resources.length) throw new Error('memory: more rules than resources')
  return { rules, heapPerRule: heap / rules, microsPerStart: (cpu * 1000) / rules, rss: process.memoryUsage.rss() }
}

function heapUsed(): number {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error('memory: node must run with --expose-gc')
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
