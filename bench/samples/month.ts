/** One sample: a month of 1-minute data of 100 resources through the rule of five nodes, in virtual time. */
import { builtins } from '../../plugins/index.ts'
import { createEngine, simulate, VirtualClock } from '../../src/index.ts'
import { resourceNames, START_MS } from '../events.ts'
import { countPlug } from '../subjects/count-plug.ts'
import { CoolDownReference, fiveNodes, readings } from './five-nodes.ts'
import { cpuMs, peakRss } from './spent.ts'

/**
 * `simulate`: a run per resource, one after the other. `engine`: one engine on a virtual clock with a task per
 * resource, and the messages of all in the order of their time.
 */
export type MonthWay = 'simulate' | 'engine'

export interface MonthSample {
  messages: number
  /** CPU time of the main thread, the making of the messages in it, ms */
  cpuMs: number
  wallMs: number
  firings: number
  /** largest resident set of the process, bytes */
  peakRss: number
}

const STEPS = 31 * 24 * 60
const STEP_MS = 60_000

export async function monthSample(way: MonthWay): Promise<MonthSample> {
  const resources = resourceNames(100)
  const wallStart = performance.now()
  const cpuStart = cpuMs()
  const { messages, firings } = way === 'simulate' ? await runs(resources) : await oneEngine(resources)
  const sample = {
    messages,
    cpuMs: cpuMs() - cpuStart,
    wallMs: performance.now() - wallStart,
    firings,
    peakRss: peakRss(),
  }

  const reference = new CoolDownReference()
  if (way === 'engine') for (const reading of readings(resources, STEPS, STEP_MS)) reference.take(reading)
  else for (const one of resources) for (const reading of readings([one], STEPS, STEP_MS)) reference.take(reading)
  if (firings !== reference.firings || messages !== STEPS * resources.length) {
    throw new Error(`month: ${messages} messages, fired ${firings} times, the reference says ${reference.firings}`)
  }
  return sample
}

async function runs(resources: readonly string[]): Promise<{ messages: number; firings: number }> {
  const { plug, counted } = countPlug()
  let messages = 0
  for (const resource of resources) {
    const recording = readings([resource], STEPS, STEP_MS)
    const plugs = [...builtins, plug]
    const run = await simulate(fiveNodes, { messages: recording, plugs, resource, keep: 'none', why: false })
    messages += run.messages
  }
  return { messages, firings: counted() }
}

async function oneEngine(resources: readonly string[]): Promise<{ messages: number; firings: number }> {
  const { plug, counted } = countPlug()
  const clock = new VirtualClock(START_MS)
  const engine = createEngine({ plugs: [...builtins, plug], scheduler: clock, why: false })
  for (const resource of resources) await engine.start(fiveNodes, { resource })
  let messages = 0
  for (const reading of readings(resources, STEPS, STEP_MS)) {
    clock.advanceTo(reading.timestamp)
    if (engine.receive(reading)) messages++
  }
  await engine.close()
  return { messages, firings: counted() }
}
