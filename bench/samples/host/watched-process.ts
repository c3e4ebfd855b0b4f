/** Preloaded into a host: reports its figures on any message of the parent process. */
import { monitorEventLoopDelay, performance, PerformanceObserver } from 'node:perf_hooks'

/** Since the last report. Times in ms, sizes in bytes. */
export interface ProcessFigures {
  readonly loopP99: number
  readonly loopMax: number
  /** longest pause of the collector, included in `loopMax` */
  readonly gcMax: number
  readonly busy: number
  readonly cpu: number
  readonly heap: number
  readonly rss: number
}

/** ms between two ticks of the monitor, subtracted from delays */
const LOOK = 1
const delay = monitorEventLoopDelay({ resolution: LOOK })
delay.enable()
let cpu = process.cpuUsage()
let gcMax = 0
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcMax = Math.max(gcMax, duration)
}).observe({ entryTypes: ['gc'] })
let last = performance.eventLoopUtilization()

process.on('message', (command) => {
  if (command === 'collect') globalThis.gc?.()
  const now = performance.eventLoopUtilization()
  const { heapUsed, rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage(cpu)
  const figures: ProcessFigures = {
    loopP99: Math.max(0, delay.percentile(99) / 1e6 - LOOK),
    loopMax: Math.max(0, delay.max / 1e6 - LOOK),
    gcMax,
    cpu: (user + system) / 1_000,
    busy: performance.eventLoopUtilization(now, last).utilization,
    heap: heapUsed,
    rss,
  }
  last = now
  delay.reset()
  gcMax = 0
  cpu = process.cpuUsage()
  process.send?.(figures)
})
// the parent process has ended
process.on('disconnect', () => process.exit(1))
process.channel?.unref()
