/** Sample of many tasks of one template, idle or after a few messages. Needs `--expose-gc`. */
import { builtins } from '../../plugins/index.ts'
import { createEngine, type Template } from '../../src/index.ts'
import { resourceNames, START_MS } from '../events.ts'
import { clockScheduler } from '../subjects/clock-scheduler.ts'
import { countPlug } from '../subjects/plugs.ts'
import { fiveNodes, readings } from './five-nodes.ts'
import { cpuMs, heapUsed } from './spent.ts'

export interface FleetSample {
  tasks: number
  /** heap and typed arrays per task, bytes, after a full collection */
  heapPerTask: number
  /** CPU time of the main thread for all starts, ms */
  cpuMs: number
  wallMs: number
  rss: number
}

const template: Template = { name: 'warm, damp and loaded', ...fiveNodes }

export interface FleetRequest {
  readonly tasks: number
  /** per task, before reading its memory */
  readonly messages: number
}

export async function fleetSample({ tasks, messages }: FleetRequest): Promise<FleetSample> {
  const resources = resourceNames(tasks)
  const plugs = [...builtins, countPlug().plug]
  const engine = createEngine({ plugs, scheduler: clockScheduler({ now: START_MS, stamp: 0 }), why: false })
  const heapBefore = heapUsed() + process.memoryUsage().arrayBuffers
  const wallStart = performance.now()
  const cpuStart = cpuMs()
  for (const resource of resources) await engine.start(template, { resource })
  const spent = { cpuMs: cpuMs() - cpuStart, wallMs: performance.now() - wallStart }
  for (const reading of readings(resources, messages, 1000)) engine.receive(reading)
  const heapPerTask = (heapUsed() + process.memoryUsage().arrayBuffers - heapBefore) / tasks
  if (engine.tasks.size !== tasks) throw new Error(`fleet: ${engine.tasks.size} tasks run, ${tasks} were started`)
  return { tasks, heapPerTask, ...spent, rss: process.memoryUsage.rss() }
}
