/**
 * Plain reference of the firings, independent of the limits and the engine. A message's verdicts depend on its index in
 * the cycle and on whether it is the first cycle, after which carried values repeat; only edges and cool-downs need a
 * walk over every message.
 */
import { EVENT_COUNT, START_MS, STEP_MS } from '../events.ts'
import type { Workload } from '../workload.ts'
import { stampOf, weightOf } from '../../src/bench/firings.ts'
import type { OddEvent } from './odd-events.ts'
import type { Time } from './targets.ts'

export interface Expected {
  count: number
  sum: number
}

/** undefined: unknown */
type Verdict = boolean | undefined

interface Condition {
  readonly rule: number
  verdict(temperature: number | undefined, humidity: number | undefined): Verdict
}

/** After the first `total` messages. */
export function expectedFirings(
  workload: Workload,
  events: readonly OddEvent[],
  { total, time }: { total: number; time: Time },
): Expected {
  const conditions = conditionsOf(workload)
  const isEdge = workload.kind === 'threshold' && workload.fires === 'edge'
  const rules = workload.kind === 'threshold' ? workload.limits.length : 1
  const edges = { wasFalse: new Uint8Array(rules), lastFiring: new Float64Array(rules).fill(Number.NEGATIVE_INFINITY) }
  const coolDown = workload.kind === 'threshold' ? workload.coolDownMs : 0
  const cycles = [0, 1].map((cycle) =>
    valuesInCycle(events, cycle, Math.min(EVENT_COUNT, Math.max(0, total - cycle * EVENT_COUNT))),
  )
  const verdicts = cycles.map((values) =>
    values.map(([temperature, humidity], i) => {
      let sum = 0
      let count = 0
      let known: Verdict
      const all = conditions.get(events[i]?.resource ?? '') ?? []
      for (const { rule, verdict } of all) {
        known = verdict(temperature, humidity)
        if (known !== true) continue
        count++
        sum = (sum + weightOf(rule)) | 0
      }
      return { sum, count, known, rule: all[0]?.rule ?? 0 }
    }),
  )
  const result = { count: 0, sum: 0 }
  for (let i = 0; i < total; i++) {
    const met = verdicts[i < EVENT_COUNT ? 0 : 1]?.[i % EVENT_COUNT]
    if (met === undefined) throw new Error(`message ${i} does not exist`)
    if (isEdge) {
      if (met.known === false) edges.wasFalse[met.rule] = 1
      if (met.known !== true || edges.wasFalse[met.rule] === 0) continue
      edges.wasFalse[met.rule] = 0
      // a sample by the system clock is shorter than a cool-down
      const now = time === 'machine' ? 0 : START_MS + (i + 1) * STEP_MS
      if (now - (edges.lastFiring[met.rule] ?? 0) < coolDown) continue
      edges.lastFiring[met.rule] = now
    }
    result.count += met.count
    result.sum = (result.sum + Math.imul(met.sum, stampOf(i))) | 0
  }
  return result
}

function conditionsOf(workload: Workload): ReadonlyMap<string, readonly Condition[]> {
  if (workload.kind === 'chain') {
    const { resource, steps, limit } = workload
    const verdict = (temperature: number | undefined): Verdict =>
      temperature === undefined
        ? undefined
        : steps.reduce((value, step) => value * step.factor + step.offset, temperature) > limit
    return new Map([[resource, [{ rule: 0, verdict }]]])
  }
  const found = new Map<string, Condition[]>()
  for (const [rule, { resource, temperature, humidity }] of workload.limits.entries()) {
    const list = found.get(resource) ?? []
    const verdict: Condition['verdict'] = (t, h) => {
      const warm = t === undefined ? undefined : t > temperature
      const damp = h === undefined ? undefined : h > humidity
      if (warm === false || damp === false) return false
      return warm === undefined || damp === undefined ? undefined : true
    }
    list.push({ rule, verdict })
    found.set(resource, list)
  }
  return found
}

/**
 * Numbers in effect at each message of the first cycle, or of any later one: a sensor keeps its state when a message
 * lacks its value. (A chain reads values for a minute, and its resources are never silent for longer.)
 */
function valuesInCycle(
  events: readonly OddEvent[],
  cycle: number,
  count: number,
): readonly (readonly [number | undefined, number | undefined])[] {
  const last = new Map<string, { temperature?: number | null; humidity?: number | null }>()
  const values: [number | undefined, number | undefined][] = []
  for (let i = 0; i < cycle * EVENT_COUNT + count; i++) {
    const event = events[i % EVENT_COUNT]
    if (event === undefined) throw new Error(`event ${i % EVENT_COUNT} does not exist`)
    const own = last.get(event.resource) ?? {}
    if (event.temperature !== undefined) own.temperature = event.temperature
    if (event.humidity !== undefined) own.humidity = event.humidity
    last.set(event.resource, own)
    if (i >= cycle * EVENT_COUNT) values.push([numberOf(own.temperature), numberOf(own.humidity)])
  }
  return values
}

function numberOf(value: number | null | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
