/**
 * The limit of a cell: the loop that somebody would write by hand for just these rules and just this data. Where messages
 * miss a value, it takes the last one of the resource as the rule does, and no other code.
 */
import type { Clock } from '../events.ts'
import type { ChainWorkload, Limits, ThresholdWorkload, Workload } from '../workload.ts'
import { weightOf, type Firings } from './firings.ts'
import type { OddEvent } from './odd-events.ts'
import type { Data, Time } from './targets.ts'

type Handler = (event: OddEvent) => void

/** ms for which a property that reads a value of the message finds it after later messages that do not have it */
const VALIDITY_MS = 60_000

export const LIMITS = ['closure', 'sorted'] as const
export type LimitName = (typeof LIMITS)[number]

export interface LimitParts {
  readonly data: Data
  readonly time: Time
  readonly clock: Clock
  readonly firings: Firings
}

export function limitOf(name: LimitName, workload: Workload, parts: LimitParts): Handler {
  if (workload.kind === 'chain') return chain(workload, parts)
  if (name === 'sorted') return sorted(workload, parts)
  return carries(parts.data) ? carrying(workload, parts) : fresh(workload, parts)
}

function carries(data: Data): boolean {
  return data === 'missing' || data === 'carried'
}

type Rule = (temperature: number, humidity: number) => void

function ruleOf(workload: ThresholdWorkload, limits: Limits, weight: number, parts: LimitParts): Rule {
  const { firings, clock, time } = parts
  const { temperature, humidity } = limits
  if (workload.fires === 'every') {
    return (t, h) => {
      if (t > temperature && h > humidity) firings.add(weight)
    }
  }
  const { coolDownMs } = workload
  const now = time === 'machine' ? Date.now : () => clock.now
  let wasFalse = false
  let notBefore = 0
  return (t, h) => {
    if (t > temperature && h > humidity) {
      if (!wasFalse) return
      wasFalse = false
      const at = now()
      if (at < notBefore) return
      notBefore = at + coolDownMs
      firings.add(weight)
    } else if (t <= temperature || h <= humidity) wasFalse = true
  }
}

/** Messages have both values, or none that is a number: null is no 0. */
function fresh(workload: ThresholdWorkload, parts: LimitParts): Handler {
  if (workload.onePerResource) {
    const rules = new Map(
      workload.limits.map((limits, i) => [limits.resource, ruleOf(workload, limits, weightOf(i), parts)]),
    )
    return (event) => rules.get(event.resource)?.(event.temperature ?? Number.NaN, event.humidity ?? Number.NaN)
  }
  const rules = new Map<string, Rule[]>()
  for (const [i, limits] of workload.limits.entries()) {
    const list = rules.get(limits.resource) ?? []
    list.push(ruleOf(workload, limits, weightOf(i), parts))
    rules.set(limits.resource, list)
  }
  return (event) => {
    const list = rules.get(event.resource)
    if (list === undefined) return
    const temperature = event.temperature ?? Number.NaN
    const humidity = event.humidity ?? Number.NaN
    for (const rule of list) rule(temperature, humidity)
  }
}

/** What a resource said last: a sensor keeps its state until a message has its value again. */
class Last {
  temperature = Number.NaN
  humidity = Number.NaN

  take({ temperature, humidity }: OddEvent): void {
    if (temperature !== undefined) this.temperature = temperature ?? Number.NaN
    if (humidity !== undefined) this.humidity = humidity ?? Number.NaN
  }
}

function carrying(workload: ThresholdWorkload, parts: LimitParts): Handler {
  const resources = new Map<string, { last: Last; rules: Rule[] }>()
  for (const [i, limits] of workload.limits.entries()) {
    const own = resources.get(limits.resource) ?? { last: new Last(), rules: [] }
    own.rules.push(ruleOf(workload, limits, weightOf(i), parts))
    resources.set(limits.resource, own)
  }
  if (workload.onePerResource) {
    const single = new Map([...resources].map(([name, { last, rules }]) => [name, { last, rule: rules[0] as Rule }]))
    return (event) => {
      const own = single.get(event.resource)
      if (own === undefined) return
      own.last.take(event)
      own.rule(own.last.temperature, own.last.humidity)
    }
  }
  return (event) => {
    const own = resources.get(event.resource)
    if (own === undefined) return
    const { last, rules } = own
    last.take(event)
    for (const rule of rules) rule(last.temperature, last.humidity)
  }
}

/** All rules of the one resource by rising limit of temperature: the first that is not below the value is the end. */
function sorted({ limits }: ThresholdWorkload, { data, firings }: LimitParts): Handler {
  const order = limits
    .map((one, i) => ({ ...one, weight: weightOf(i) }))
    .toSorted((a, b) => a.temperature - b.temperature)
  const temperatures = Float64Array.from(order, ({ temperature }) => temperature)
  const humidities = Float64Array.from(order, ({ humidity }) => humidity)
  const weights = Int32Array.from(order, ({ weight }) => weight)
  const compare = (temperature: number, humidity: number): void => {
    for (let i = 0; i < temperatures.length && (temperatures[i] as number) < temperature; i++) {
      if ((humidities[i] as number) < humidity) firings.add(weights[i] as number)
    }
  }
  const resource = order[0]?.resource
  if (!carries(data)) {
    return (event) => {
      if (event.resource === resource) compare(event.temperature ?? Number.NaN, event.humidity ?? Number.NaN)
    }
  }
  const last = new Last()
  return (event) => {
    if (event.resource !== resource) return
    last.take(event)
    compare(last.temperature, last.humidity)
  }
}

/** One loop, no function per sensor. */
function chain({ resource, steps, limit }: ChainWorkload, { data, clock, firings }: LimitParts): Handler {
  const factors = Float64Array.from(steps, ({ factor }) => factor)
  const offsets = Float64Array.from(steps, ({ offset }) => offset)
  const weight = weightOf(0)
  const run = (temperature: number): void => {
    let value = temperature
    for (let i = 0; i < factors.length; i++) value = value * (factors[i] as number) + (offsets[i] as number)
    if (value > limit) firings.add(weight)
  }
  const rules = new Map([[resource, run]])
  if (!carries(data)) return (event) => rules.get(event.resource)?.(event.temperature ?? Number.NaN)
  let temperature = Number.NaN
  let until = 0
  return (event) => {
    const rule = rules.get(event.resource)
    if (rule === undefined) return
    const { now } = clock
    if (event.temperature !== undefined) {
      temperature = event.temperature ?? Number.NaN
      until = now + VALIDITY_MS
    } else if (until <= now) temperature = Number.NaN
    rule(temperature)
  }
}
