/** Sample of the memory of a running rule and the time of its start. Needs `--expose-gc`. */
import { START_MS, resourceNames } from '../events.ts'
import { loadSubject } from '../subjects/index.ts'
import type { ThresholdWorkload } from '../workload.ts'
import { workloadNamed } from '../workloads.ts'
import { cpuMs, heapUsed } from './spent.ts'

export interface MemorySample {
  rules: number
  /** heap per rule, bytes, after a full collection */
  heapPerRule: number
  /** including the documents of the rules, when only the subject holds them */
  heapWithDocument: number
  microsPerStart: number
  rss: number
}

export interface MemoryRequest {
  /**
   * `same`: one rule of this engine for all resources, as with a template; `different`: each with its own limits.
   * Otherwise the name of a subject, with different limits.
   */
  readonly what: string
  readonly rules: number
}

interface Loaded {
  start(): Promise<void>
  release(): void
  alive(): boolean
}

export async function memorySample({ what, rules }: MemoryRequest): Promise<MemorySample> {
  const load = what === 'same' || what === 'different' ? await ownRules(what) : await subjectRules(what)
  const heapEmpty = heapUsed()
  const loaded = load(rules)
  const heapBefore = heapUsed()
  const cpuBefore = cpuMs()
  await loaded.start()
  const cpu = cpuMs() - cpuBefore
  const heap = heapUsed() - heapBefore
  const rss = process.memoryUsage.rss()
  loaded.release()
  const heapWithDocument = (heapUsed() - heapEmpty) / rules
  if (!loaded.alive()) throw new Error(`memory: not all of ${rules} rules run`)
  return { rules, heapPerRule: heap / rules, heapWithDocument, microsPerStart: (cpu * 1000) / rules, rss }
}

/** Rules are built beforehand, outside the time of a start. */
async function ownRules(what: 'same' | 'different'): Promise<(rules: number) => Loaded> {
  const { builtins } = await import('../../plugins/index.ts')
  const { createEngine } = await import('../../src/index.ts')
  const { thresholdRule } = await import('../subjects/bench-rules.ts')
  const { clockScheduler } = await import('../subjects/clock-scheduler.ts')
  const { countPlug } = await import('../subjects/plugs.ts')
  const plugs = [...builtins, countPlug().plug]
  const engine = createEngine({ plugs, scheduler: clockScheduler({ now: START_MS, stamp: 0 }), why: false })
  const workload = workloadNamed('w1')
  return (rules) => {
    const documents = limitsOf(what === 'same' ? 1 : rules).map((limits) =>
      thresholdRule({ ...limits, resource: '$' }, workload),
    )
    const resources = [...resourceNames(rules)]
    return {
      async start() {
        for (const [i, resource] of resources.entries()) {
          const rule = documents[i % documents.length]
          if (rule !== undefined) await engine.start(rule, { resource })
        }
      },
      release() {
        documents.length = 0
        resources.length = 0
      },
      alive: () => engine.tasks.size === rules,
    }
  }
}

async function subjectRules(name: string): Promise<(rules: number) => Loaded> {
  const subject = await loadSubject(name)
  const base = workloadNamed('w1')
  return (rules) => {
    const workload: ThresholdWorkload = { ...base, limits: limitsOf(rules) }
    let running: unknown
    return {
      async start() {
        running = await subject(workload, { now: START_MS, stamp: 0 })
      },
      release() {
        workload.limits = []
      },
      alive: () => running !== undefined,
    }
  }
}

function limitsOf(rules: number) {
  return resourceNames(rules).map((resource, i) => {
    return { resource, temperature: 20 + (i % 1000) / 10, humidity: 50 + (i % 21) }
  })
}
