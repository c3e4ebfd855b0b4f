/** Rule of the simulated recordings, the recordings, and a plain reference of its firings. */
import type { Rule } from '../../src/core/rule/rule.ts'
import type { Message } from '../../src/index.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { START_MS } from '../events.ts'

const COOL_DOWN_S = 60

/** Five nodes: three sensors, a gate, an actuator with a cool-down. */
export const fiveNodes: Rule = {
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

export interface Reading extends Message {
  resource: string
  timestamp: number
  temperature: number
  humidity: number
  pressure: number
}

/** `steps` readings of each resource, `stepMs` apart; equal on every call. */
export function* readings(resources: readonly string[], steps: number, stepMs: number): Generator<Reading> {
  let seed = 7
  const random = () => {
    seed = nextSeed(seed)
    return randomOf(seed)
  }
  for (let i = 0; i < steps; i++) {
    for (const resource of resources) {
      yield {
        resource,
        timestamp: START_MS + i * stepMs,
        temperature: Math.round(random() * 500) / 10,
        humidity: 20 + Math.round(random() * 80),
        pressure: Math.round(random() * 60) / 10,
      }
    }
  }
}

/** Counts the firings of `fiveNodes`, a task per resource. */
export class CoolDownReference {
  firings = 0
  readonly #notBefore = new Map<string, number>()

  take({ resource, timestamp, temperature, humidity, pressure }: Reading): void {
    if (!(temperature > 25 && humidity > 60 && pressure > 3)) return
    if (timestamp < (this.#notBefore.get(resource) ?? 0)) return
    this.firings++
    this.#notBefore.set(resource, timestamp + COOL_DOWN_S * 1000)
  }
}
