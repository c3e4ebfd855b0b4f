/** One sample: many idle tasks of one template. Needs `--expose-gc`. */
import { builtins } from '../../plugins/index.ts'
import { createEngine, type Template } from '../../src/index.ts'
import { resourceNames, START_MS } from '../events.ts'
import { clockScheduler } from '../subjects/clock-scheduler.ts'
import { countPlug } from '../subjects/count-plug.ts'
import { fiveNodes } from './five-nodes.ts'
import { cpuMs, heapUsed } from './spent.ts'

export interface FleetSample {
  tasks: number
  /** heap in use per task, bytes, after a full collection */
  heapPerTask: number
  /** CPU time of the main thread for all starts, ms */
  cpuMs: number
  wallMs: number
  /** resident set of the process with all tasks in it, bytes */
  rss: number
}

const template: Template = { name: 'warm, damp and loaded', ...fiveNodes }

export async function fleetSample(tasks: number): Promise<FleetSample> {
  const resources = resourceNames(tasks)
  const plugs = [...builtins, countPlug().plug]
  const engine = createEngine({ plugs, scheduler: clockScheduler({ now: START_MS, stamp: 0 }), why: false })
  const heapBefore = heapUsed()
  const wallStart = performance.now()
  const cpuStart = cpuMs()
  for (const resource of resources) await engine.start(template, { resource })
  const spent = { cpuMs: cpuMs() - cpuStart, wallMs: performance.now() - wallStart }
  const heapPerTask = (heapUsed() - heapBefore) / tasks
  if (engine.tasks.size !== tasks) throw new Error(`fleet: ${engine.tasks.size} tasks run, ${tasks} were started`)
  return { tasks, heapPerTask, ...spent, rss: process.memoryUsage.rss() }
}
