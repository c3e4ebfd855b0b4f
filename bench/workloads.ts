/** Workloads by the name in `--only`, built on demand. */
import { EVENT_COUNT, makeEvents, resourceNames, START_MS, STEP_MS, type BenchEvent } from './events.ts'
import {
  independentFirings,
  type ChainStep,
  type ChainWorkload,
  type Limits,
  type ThresholdWorkload,
  type Workload,
} from './workload.ts'

const WORKLOADS = {
  w1: () => onePerResource('w1', 100),
  w1d: () => onePerResource('w1d', 10_000, ownLimits),
  w2,
  w3,
  w4,
  w5: () => inWaves(onePerResource('w5', 100), { answers: 'next turn' }),
  // each wave has four events per resource, and each firing calls both actuators
  w7: () => inWaves(onePerResource('w7', 16), { acts: 'in order' }, 2),
} as const satisfies Readonly<Record<string, () => Workload>>

export type WorkloadName = keyof typeof WORKLOADS

export function workloadNamed<Name extends WorkloadName>(name: Name): ReturnType<(typeof WORKLOADS)[Name]> {
  return WORKLOADS[name]() as ReturnType<(typeof WORKLOADS)[Name]>
}

/** power of two, so that cycled waves stay whole */
const WAVE = 64

const isMet = ({ temperature, humidity }: BenchEvent, limits: Limits): boolean =>
  temperature > limits.temperature && humidity > limits.humidity

const sameLimits = (resource: string): Limits => ({ resource, temperature: 25, humidity: 60 })

const ownLimits = (resource: string, i: number): Limits => {
  return { resource, temperature: 20 + (i % 101) / 10, humidity: 50 + (i % 21) }
}

function onePerResource(
  name: string,
  rules: number,
  limitsOf: (resource: string, i: number) => Limits = sameLimits,
): ThresholdWorkload {
  const resources = resourceNames(rules)
  const events = makeEvents(resources)
  const limits = resources.map(limitsOf)
  const byResource = new Map(limits.map((limit) => [limit.resource, limit]))
  return {
    kind: 'threshold',
    name,
    events,
    limits,
    onePerResource: true,
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(events, (event) => {
      const limit = byResource.get(event.resource)
      return limit !== undefined && isMet(event, limit) ? 1 : 0
    }),
  }
}

/** Resources take turns, and events come in waves. */
function inWaves(
  workload: ThresholdWorkload,
  more: Pick<ThresholdWorkload, 'answers' | 'acts'>,
  calls = 1,
): ThresholdWorkload {
  const { limits } = workload
  const events = workload.events.map((event, i): BenchEvent => {
    return { ...event, resource: limits[i % limits.length]?.resource ?? event.resource }
  })
  const expected = independentFirings(events, (event) => (isMet(event, sameLimits('')) ? calls : 0))
  return { ...workload, ...more, events, wave: WAVE, expected }
}

/** 1,000 rules with different limits on one resource; every event meets them all. */
function w2(): ThresholdWorkload {
  const [resource = ''] = resourceNames(1)
  const events = makeEvents([resource])
  const limits = Array.from({ length: 1_000 }, (_, i): Limits => {
    return { resource, temperature: (i * 50) / 1_000, humidity: 20 + ((i * 37) % 80) }
  })
  return {
    kind: 'threshold',
    name: 'w2',
    events,
    limits,
    onePerResource: false,
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(events, (event) => limits.filter((limit) => isMet(event, limit)).length),
  }
}

/** The rules of W1, but they fire only when the condition becomes true, at most once per 10 virtual seconds. */
function w3(): ThresholdWorkload {
  const coolDownMs = 10_000
  const workload = onePerResource('w3', 100)
  const { events } = workload
  return {
    ...workload,
    fires: 'edge',
    coolDownMs,
    expected(total) {
      const wasFalse = new Set<string>()
      const lastFiring = new Map<string, number>()
      let firings = 0
      for (let i = 0; i < total; i++) {
        const event = events[i % EVENT_COUNT]
        if (event === undefined) throw new Error(`event ${i % EVENT_COUNT} does not exist`)
        if (!isMet(event, sameLimits(event.resource))) {
          wasFalse.add(event.resource)
        } else if (wasFalse.delete(event.resource)) {
          const now = START_MS + (i + 1) * STEP_MS
          if (now - (lastFiring.get(event.resource) ?? 0) >= coolDownMs) {
            lastFiring.set(event.resource, now)
            firings++
          }
        }
      }
      return firings
    },
  }
}

/** One chain of ten sensors, each on the previous value, with an actuator at the end. */
function w4(): ChainWorkload {
  const [resource = ''] = resourceNames(1)
  const limit = 60
  const events = makeEvents([resource])
  const steps = Array.from({ length: 10 }, (_, i): ChainStep => ({ factor: 0.9 + i / 50, offset: 4 - i / 2 }))
  return {
    kind: 'chain',
    name: 'w4',
    events,
    resource,
    steps,
    limit,
    expected: independentFirings(events, (event) =>
      steps.reduce((value, step) => value * step.factor + step.offset, event.temperature) > limit ? 1 : 0,
    ),
  }
}
