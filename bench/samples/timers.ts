/** One sample: 100,000 periodic things at mixed periods on this machine's clock. Needs `--expose-gc`. */
import { performance } from 'node:perf_hooks'
import { timerSubjects, type Periodic } from '../subjects/timers.ts'
import { cpuMs } from './spent.ts'
import { virtualTicks } from './timers-virtual.ts'

export interface TimersSample {
  tasks: number
  /** CPU time of the main thread for adding all, ms */
  addMs: number
  /** bytes per task, heap and typed arrays */
  bytesPerTask: number
  /** share of one core, 0 to 1 */
  cpuShare: number
  firesPerSecond: number
  /** ms between when it was due and when it ran */
  latenessP50: number
  latenessP99: number
}

/** `busy`: 3,200 fires a second from 100,000 tasks; `idle`: a sixtieth of that. */
export type TimersLoad = 'busy' | 'idle'

const MIX: readonly (readonly [share: number, periodMs: number])[] = [
  [0.2, 10_000],
  [0.2, 30_000],
  [0.3, 60_000],
  [0.3, 900_000],
]
const WARM_UP_MS = 1000
const MEASURE_MS = 6000

export async function timersSample(name: string, load: TimersLoad, tasks: number): Promise<TimersSample> {
  if (name === 'virtual') return virtualSample(tasks)
  const subject = timerSubjects.get(name)
  if (subject === undefined) throw new Error(`timers: there is no subject "${name}"`)
  const periodics = mixed(tasks, load === 'busy' ? 1 : 60)
  const lateness = new Float64Array(500_000)
  let fires = 0
  const fired = (lateMs: number): void => {
    lateness[fires++ % lateness.length] = lateMs
  }
  const before = memory()
  const addStart = cpuMs()
  const running = await subject(periodics, fired)
  const addMs = cpuMs() - addStart
  const bytesPerTask = (memory() - before - running.ownBytes()) / tasks
  await sleep(WARM_UP_MS)
  fires = 0
  const counted = running.count?.() ?? 0
  const wallStart = performance.now()
  const cpuStart = cpuMs()
  await sleep(MEASURE_MS)
  const cpu = cpuMs() - cpuStart
  const wall = performance.now() - wallStart
  const inTime = (running.count?.() ?? fires) - counted
  if (running.listen !== undefined) {
    fires = 0
    running.listen()
    await sleep(load === 'busy' ? 2000 : 6000)
  }
  const sorted = lateness.slice(0, Math.min(fires, lateness.length)).toSorted()
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
  await running.close()
  return {
    tasks,
    addMs,
    bytesPerTask,
    cpuShare: cpu / wall,
    firesPerSecond: (inTime / wall) * 1000,
    latenessP50: at(0.5),
    latenessP99: at(0.99),
  }
}

/** As if at 3,200 fires a second: what they would take of a core. */
async function virtualSample(tasks: number): Promise<TimersSample> {
  const { addMs, microsPerFire } = await virtualTicks(tasks)
  const unknown = { bytesPerTask: Number.NaN, latenessP50: Number.NaN, latenessP99: Number.NaN }
  return { ...unknown, tasks, addMs, cpuShare: (microsPerFire * 3200) / 1e6, firesPerSecond: 3200 }
}

/** Phases are even, as they are in a fleet that was started over a day. */
function mixed(tasks: number, slower: number): Periodic[] {
  let taken = 0
  return MIX.flatMap(([share, period], i) => {
    const count = i === MIX.length - 1 ? tasks - taken : Math.round(share * tasks)
    taken += count
    const periodMs = period * slower
    return Array.from({ length: count }, (_, n) => ({ periodMs, phaseMs: Math.floor(((n + 1) / count) * periodMs) }))
  })
}

function memory(): number {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error('timers: node must run with --expose-gc')
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
