/** Sample of `simulate` over a generated recording, without stored events. */
import { builtins } from '../../plugins/index.ts'
import { simulate } from '../../src/index.ts'
import { countPlug } from '../subjects/plugs.ts'
import { CoolDownReference, fiveNodes, readings } from './five-nodes.ts'
import { cpuMs, peakRss } from './spent.ts'

export interface SimulateSample {
  messages: number
  cpuMs: number
  wallMs: number
  firings: number
  /** largest resident set of the process, bytes */
  peakRss: number
}

const RESOURCE = 'boiler-1'
const STEP_MS = 1000

export async function simulateSample({ messages }: { messages: number }): Promise<SimulateSample> {
  const { plug, counted } = countPlug()
  const recording = () => readings([RESOURCE], messages, STEP_MS)
  const wallStart = performance.now()
  const cpuStart = cpuMs()
  const run = await simulate(fiveNodes, {
    messages: recording(),
    plugs: [...builtins, plug],
    resource: RESOURCE,
    keep: 'none',
    why: false,
  })
  const sample = {
    messages,
    cpuMs: cpuMs() - cpuStart,
    wallMs: performance.now() - wallStart,
    firings: counted(),
    peakRss: peakRss(),
  }

  const reference = new CoolDownReference()
  for (const reading of recording()) reference.take(reading)
  if (sample.firings !== reference.firings || run.messages !== messages) {
    throw new Error(
      `simulate: ${run.messages} of ${messages} messages taken, fired ${sample.firings} times, ` +
        `the reference says ${reference.firings}`,
    )
  }
  return sample
}
