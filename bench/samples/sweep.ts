/** One sample: a rule with five thresholds over one recording, as five runs or as one sweep. */
import { builtins } from '../../plugins/index.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { checkRecording, messagesOf } from '../../src/cli/recording/recording.ts'
import type { Source } from '../../src/cli/recording/source.ts'
import { zoneOf } from '../../src/cli/zone.ts'
import { simulate, sweep, type Message } from '../../src/index.ts'
import { countPlug } from '../subjects/count-plug.ts'
import { CoolDownReference, fiveNodes, readings } from './five-nodes.ts'
import { cpuMs } from './spent.ts'

/** `text`: each run checks and parses the recording as the command line does; `objects`: the messages are there. */
export interface SweepWay {
  feed: 'text' | 'objects'
  as: 'runs' | 'sweep'
}

export interface SweepSample {
  messages: number
  cpuMs: number
  firings: number
}

const RESOURCE = 'boiler-1'
const MESSAGES = 50_000
const THRESHOLDS = [25, 30, 35, 40, 45]

export async function sweepSample({ feed, as }: SweepWay): Promise<SweepSample> {
  const recording = [...readings([RESOURCE], MESSAGES, 1000)]
  const open = feed === 'text' ? opener(recording) : () => Promise.resolve(recording)
  const plugs = [...builtins, countPlug().plug]
  // Once beforehand, so that what is compiled on the way is not measured.
  await simulate(fiveNodes, { messages: await open(), plugs, resource: RESOURCE, why: false, keep: ['fired'] })
  const start = cpuMs()
  let firings = 0
  if (as === 'sweep') {
    const set = { 'warm.threshold': THRESHOLDS }
    const { rows } = await sweep(fiveNodes, { messages: await open(), plugs, resource: RESOURCE, set })
    for (const { fired } of rows) firings += fired['count'] ?? 0
  } else {
    for (const threshold of THRESHOLDS) {
      const messages = await open()
      const run = await simulate(warmFrom(threshold), {
        messages,
        plugs,
        resource: RESOURCE,
        why: false,
        keep: ['fired'],
      })
      firings += run.events.length
    }
  }
  const sample = { messages: MESSAGES, cpuMs: cpuMs() - start, firings }
  const expected = THRESHOLDS.reduce((sum, threshold) => sum + firingsFrom(recording, threshold), 0)
  if (firings !== expected) throw new Error(`sweep: fired ${firings} times, the reference says ${expected}`)
  return sample
}

type Open = () => Promise<Iterable<Message> | AsyncIterable<Message>>

function opener(recording: readonly Message[]): Open {
  const rows = recording.map((one) => [one.timestamp, one['temperature'], one['humidity'], one['pressure']].join(','))
  const bytes = new TextEncoder().encode(['timestamp,temperature,humidity,pressure', ...rows].join('\n'))
  const source: Source = {
    name: 'recording',
    async *open() {
      for (let at = 0; at < bytes.length; at += 1 << 17) yield bytes.subarray(at, at + (1 << 17))
    },
  }
  const reading = { zone: zoneOf('UTC'), resource: RESOURCE }
  return async () => {
    const checked = await checkRecording(source, reading)
    const [problem] = checked.problems
    if (problem !== undefined) throw new Error(`sweep: ${problem.message}`)
    return messagesOf(source, checked)
  }
}

function warmFrom(threshold: number): Rule {
  const sensors = (fiveNodes.sensors ?? []).map((sensor) =>
    sensor.label === 'warm' ? { ...sensor, properties: { ...sensor.properties, threshold } } : sensor,
  )
  return { ...fiveNodes, sensors }
}

/** The reference knows 25 alone; colder readings are as good as none. */
function firingsFrom(recording: ReturnType<typeof readings> extends Generator<infer R> ? R[] : never, from: number) {
  const reference = new CoolDownReference()
  for (const reading of recording) if (reading.temperature > from) reference.take(reading)
  return reference.firings
}
