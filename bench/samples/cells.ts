/** Sample of a cell: the engine, or a limit, over the messages of a workload in this process. */
import { Firings, stampOf, weightOf } from '../../src/bench/firings.ts'
import { engineCell, type OddEvent, oddEvents, type RunningCell } from '../cells/engine-cell.ts'
import { type LimitName, limitOf } from '../cells/limits.ts'
import type { Answer, CellRow, CellWorkload, Data, Delivery, Time } from '../cells/targets.ts'
import { type Clock, EVENT_COUNT, START_MS, STEP_MS } from '../events.ts'
import type { Workload } from '../workload.ts'
import { workloadNamed } from '../workloads.ts'
import { Driver, type Spent, warmUp } from './spent.ts'

export interface CellsRequest {
  readonly workload: CellWorkload
  readonly who: LimitName | 'reflexarc'
  readonly row: CellRow
  readonly data: Data
  readonly answer: Answer
  readonly time: Time
  readonly delivery: Delivery
  readonly measureMs: number
}

export interface CellsSample extends Spent {
  readonly firings: number
}

/** final messages whose events are each examined */
const CHECKED = 2000
/** limit of a sample by the system clock, below the cool-down */
const LONGEST_MS = 9_500

/** Throws when the firings differ from the reference. */
export async function cellsSample(request: CellsRequest): Promise<CellsSample> {
  const { who, data, time, measureMs } = request
  const workload = workloadNamed(request.workload)
  const events = oddEvents(workload.events, data)
  const clock: Clock = { now: START_MS, stamp: 0 }
  const firings = new Firings(clock)
  const running: Pick<RunningCell, 'handle'> & Partial<RunningCell> =
    who === 'reflexarc'
      ? await engineCell(workload, { ...request, clock, firings })
      : { handle: limitOf(who, workload, { events, time, clock, firings }) }

  const begun = performance.now()
  const driver = new Driver({ handle: running.handle, waits: false }, events, clock)
  await warmUp(driver, workload, measureMs)
  const measured = await driver.spend(measureMs)
  running.beginCheck?.()
  driver.take(CHECKED)
  if (time === 'machine' && performance.now() - begun > LONGEST_MS) {
    throw new Error('the machine is too busy: cool-downs ended within the sample')
  }
  await running.finish?.(driver.taken)
  const expected = expectedFirings(workload, events, { total: driver.taken, time })
  if (firings.count !== expected.count || firings.sum !== expected.sum) {
    throw new Error(
      `fired ${firings.count} times (sum ${firings.sum}) in ${driver.taken} messages, ` +
        `the reference says ${expected.count} (sum ${expected.sum}): other rules fired, or at other messages`,
    )
  }
  return { ...measured, firings: firings.count }
}

/**
 * Plain reference of the firings, independent of the limits and the engine. A message's verdicts depend on its index in
 * the cycle and on whether it is the first cycle, after which carried values repeat; only edges and cool-downs need a
 * walk over every message.
 */
interface Expected {
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
