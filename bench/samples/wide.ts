/** One sample: a single rule of 1,000 nodes by this engine, or by hand. */
import { START_MS, type Clock } from '../events.ts'
import type { Running } from '../subject.ts'
import { wideCondition, wideEvents, wideRule, type WideRule } from '../workloads/wide.ts'
import { cpuMs, Driver, WARM_UP_MS } from './spent.ts'

export type WideSubject = 'closure' | 'reflexarc'

export interface WideSample {
  /** CPU time from the rule as data to the running task, ms */
  startMs: number
  events: number
  /** CPU time of the main thread for them, ms */
  cpuMs: number
  firings: number
}

/** Throws when the number of firings is not that of the rule by hand. */
export async function wideSample(subject: WideSubject, measureMs: number): Promise<WideSample> {
  const rule = wideRule()
  const { events, expected } = wideEvents(rule)
  const clock: Clock = { now: START_MS, stamp: 0 }
  const start = subject === 'closure' ? () => byHand(rule) : await byEngine(rule, clock)
  const before = cpuMs()
  const running = await start()
  const startMs = cpuMs() - before

  const driver = new Driver(running, events, clock)
  await driver.spend(Math.min(WARM_UP_MS, measureMs))
  const measured = await driver.spend(measureMs)
  await running.finish?.()

  const firings = running.fired()
  if (firings !== expected(driver.taken)) {
    throw new Error(
      `wide: fired ${firings} times in ${driver.taken} events, the reference says ${expected(driver.taken)}`,
    )
  }
  return { startMs, events: measured.events, cpuMs: measured.cpuMs, firings }
}

function byHand(rule: WideRule): Running {
  const condition = wideCondition(rule)
  let firings = 0
  return {
    handle(event) {
      if (condition(event)) firings++
    },
    waits: false,
    fired: () => firings,
  }
}

/** The engine and the rule are ready before the clock runs; only the start counts. */
async function byEngine(rule: WideRule, clock: Clock): Promise<() => Promise<Running>> {
  const { builtins } = await import('../../plugins/index.ts')
  const { createEngine } = await import('../../src/index.ts')
  const { wideAsRule } = await import('../subjects/bench-rules.ts')
  const { clockScheduler } = await import('../subjects/clock-scheduler.ts')
  const { countPlug } = await import('../subjects/count-plug.ts')
  const { plug, counted } = countPlug()
  const engine = createEngine({ plugs: [...builtins, plug], scheduler: clockScheduler(clock), why: false })
  const document = wideAsRule(rule)
  return async () => {
    await engine.start(document, { resource: rule.resource })
    return {
      handle(event) {
        engine.receive(event)
      },
      waits: false,
      fired: counted,
      finish: () => engine.close(),
    }
  }
}
