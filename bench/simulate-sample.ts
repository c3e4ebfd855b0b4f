/** One sample: a recording that is made up as it is read, through `simulate`, which keeps no events. */
import { builtins } from '../plugins/index.ts'
import { nextSeed, randomOf } from '../src/kernel/random.ts'
import type { Rule } from '../src/core/rule/rule.ts'
import { simulate, type Message } from '../src/index.ts'
import { definePlug } from '../src/plug.ts'
import { START_MS } from './events.ts'
import { cpuMs } from './throughput-sample.ts'

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
const COOL_DOWN_S = 60

/** Five nodes: three sensors, a gate, an actuator with a cool-down. */
const rule: Rule = {
  sensors: [
    threshold('warm', 'temperature', 25),
    threshold('damp', 'humidity', 60),
    threshold('loaded', 'pressure', 3),
  ],
  relations: [
    {
      label: 'all',
      type: 'AND',
      parentLabels: ['warm', 'damp', 'loaded'],
      combinations: [['Above', 'Above', 'Above']],
    },
  ],
  actuators: [{ label: 'count', name: 'count' }],
  triggers: [{ sourceLabel: 'all', destinationLabel: 'count', statesTrigger: ['TRUE'], invocationPolicy: COOL_DOWN_S }],
}

function threshold(label: string, parameter: string, limit: number) {
  return { label, name: 'streamingDataSensor', resource: '$', properties: { parameter, threshold: limit } }
}

interface Reading extends Message {
  resource: string
  timestamp: number
  temperature: number
  humidity: number
  pressure: number
}

function* recording(count: number): Generator<Reading> {
  let seed = 7
  const random = () => {
    seed = nextSeed(seed)
    return randomOf(seed)
  }
  for (let i = 0; i < count; i++) {
    yield {
      resource: RESOURCE,
      timestamp: START_MS + i * STEP_MS,
      temperature: Math.round(random() * 500) / 10,
      humidity: 20 + Math.round(random() * 80),
      pressure: Math.round(random() * 60) / 10,
    }
  }
}

/** The plain reference. */
function expectedFirings(count: number): number {
  let firings = 0
  let notBefore = 0
  for (const { timestamp, temperature, humidity, pressure } of recording(count)) {
    if (temperature > 25 && humidity > 60 && pressure > 3 && timestamp >= notBefore) {
      firings++
      notBefore = timestamp + COOL_DOWN_S * 1000
    }
  }
  return firings
}

export async function simulateSample(messages: number): Promise<SimulateSample> {
  let firings = 0
  const count = definePlug({
    name: 'count',
    version: '1.0.0',
    kind: 'actuator',
    execute() {
      firings++
    },
  })
  const wallStart = performance.now()
  const cpuStart = cpuMs()
  const run = await simulate(rule, {
    messages: recording(messages),
    plugs: [...builtins, count],
    resource: RESOURCE,
    keep: 'none',
    why: false,
  })
  const spent = { cpuMs: cpuMs() - cpuStart, wallMs: performance.now() - wallStart }
  const peakRss = process.resourceUsage().maxRSS * 1024

  const expected = expectedFirings(messages)
  if (firings !== expected || run.messages !== messages) {
    throw new Error(
      `simulate: ${run.messages} of ${messages} messages taken, fired ${firings} times, the reference says ${expected}`,
    )
  }
  return { messages, ...spent, firings, peakRss }
}
