/** Answers queries in PromQL from the series and alarms of a tenant. */
import { AppError, type Caller, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { SeriesName, Store } from '#storage'
import { evaluate, type Evaluation, type Labels, type Line, overlapping, type Samples } from './evaluate.ts'
import type { PromAnswer, PrometheusApi, PrometheusService, PromParameters } from './contract.ts'
import { matches } from './pattern.ts'
import { stepOf, timeOf } from './prometheus-schema.ts'
import { type Matcher, parseQuery, parseSelector } from './promql.ts'

/** An alarm as a series; `until` undefined: it is open. Times are epoch ms. */
export interface AlarmSpan {
  readonly type: string
  readonly severity: string
  readonly resource: string
  readonly from: number
  readonly until: number | undefined
}

export interface PrometheusOptions {
  readonly store: Store
  /** Returns epoch ms */
  readonly now: () => number
  /** Resolves when series contain all acknowledged messages. */
  readonly readable: () => Promise<void>
  /** Returns the newest alarms of the caller's tenant, at most some hundred. */
  readonly alarms: (caller: Caller) => Promise<readonly AlarmSpan[]>
}

const LOOKBACK_MS = 300_000
const MAX_STEPS = 11_000
const MAX_POINTS = 1_000_000
const MAX_SERIES = 1_000
const MAX_NAMES = 100_000
const MAX_SAMPLES = 1_000_000
/** maximum number of samples visited by all windows of a query; overlapping windows visit a sample repeatedly */
const MAX_VISITS = 20_000_000
const PAGE = 10_000
const ALERTS = 'ALERTS'
const NAME = '__name__'

export function createPrometheusService(options: PrometheusOptions): PrometheusService {
  return { as: (caller) => new Queries(options, caller) }
}

class Queries implements PrometheusApi {
  readonly #options: PrometheusOptions
  readonly #caller: Caller

  constructor(options: PrometheusOptions, caller: Caller) {
    this.#options = options
    this.#caller = caller
  }

  async query(parameters: PromParameters): Promise<PromAnswer> {
    const expression = parseQuery(needed('query', parameters.query))
    const time = isSet(parameters.time) ? timeOf(parameters.time) : this.#options.now()
    const found = await evaluate(expression, this.#evaluation(Float64Array.of(time), parameters))
    if (typeof found === 'number') return success({ resultType: 'scalar', result: pointOf(time, found) })
    const result = found.flatMap(({ labels, values, has }) =>
      has[0] === 1 ? [{ metric: labels, value: pointOf(time, values[0] ?? 0) }] : [],
    )
    return success({ resultType: 'vector', result })
  }

  async queryRange(parameters: PromParameters): Promise<PromAnswer> {
    const expression = parseQuery(needed('query', parameters.query))
    const start = timeOf(needed('start', parameters.start))
    const end = timeOf(needed('end', parameters.end))
    const step = stepOf(needed('step', parameters.step))
    if (end < start) throw new AppError('VALIDATION', '`end` is before `start`; swap them')
    const steps = Math.floor((end - start) / step) + 1
    if (steps > MAX_STEPS)
      throw new AppError('VALIDATION', `the range has ${steps} steps, more than ${MAX_STEPS}; use a longer step`)
    const times = Float64Array.from({ length: steps }, (_, i) => start + i * step)
    const found = await evaluate(expression, this.#evaluation(times, parameters))
    const lines =
      typeof found === 'number'
        ? [{ labels: {}, values: new Float64Array(steps).fill(found), has: new Uint8Array(steps).fill(1) }]
        : found
    return success({ resultType: 'matrix', result: lines.flatMap((line) => matrixOf(line, times)) })
  }

  async series(parameters: PromParameters): Promise<PromAnswer> {
    if ((parameters['match[]'] ?? []).length === 0)
      throw new AppError('VALIDATION', '`match[]` is missing; write a selector such as {resource="r"}')
    return success(await this.#labelSets(parameters))
  }

  async labels(parameters: PromParameters): Promise<PromAnswer> {
    const names = new Set((await this.#labelSets(parameters)).flatMap((labels) => Object.keys(labels)))
    return success([...names].toSorted())
  }

  async values(label: string, parameters: PromParameters): Promise<PromAnswer> {
    const values = new Set((await this.#labelSets(parameters)).flatMap((labels) => labels[label] ?? []))
    return success([...values].toSorted())
  }

  /** Without selectors, the labels of all series. */
  async #labelSets(parameters: PromParameters): Promise<readonly Labels[]> {
    const selectors = (parameters['match[]'] ?? []).map(parseSelector)
    await this.#options.readable()
    const wanted = selectors.length === 0 ? [[]] : selectors
    const all: Labels[] = []
    for (const matchers of wanted) {
      const names = await this.#names(matchers, MAX_NAMES)
      all.push(...names.map(({ resource, name }) => ({ [NAME]: name, resource })))
      if (mayBeAlerts(matchers)) all.push(...(await this.#alerts(matchers)).map(({ labels }) => labels))
    }
    return [...new Map(all.map((labels) => [JSON.stringify(labels), labels])).values()]
  }

  #evaluation(times: Float64Array, { lookback_delta: lookback }: PromParameters): Evaluation {
    let [samples, visits] = [0, 0]
    const yielder = new Yielder(machineTimers)
    return {
      times,
      lookback: isSet(lookback) ? stepOf(lookback) : LOOKBACK_MS,
      spend: async (count) => {
        visits += count
        if (visits > MAX_VISITS) throw overlapping()
        await yielder.due()
      },
      select: async (matchers, from, until) => {
        await this.#options.readable()
        const names = await this.#names(matchers, MAX_SERIES)
        if (names.length * times.length > MAX_POINTS)
          throw tooLarge(`it has more than ${MAX_POINTS} points; select fewer series or use a longer step`)
        const found: Samples[] = []
        for (const name of names) {
          const one = await this.#samples(name, from, until, MAX_SAMPLES - samples)
          samples += one.times.length
          found.push(one)
        }
        return mayBeAlerts(matchers) ? [...found, ...(await this.#alerts(matchers, from, until))] : found
      },
    }
  }

  async #samples({ resource, name }: SeriesName, from: number, until: number, limit: number): Promise<Samples> {
    const query = { resources: [resource], metric: name, from: Math.floor(from) + 1, until: Math.floor(until) }
    if (limit <= 0) throw tooLarge(`it reads more than ${MAX_SAMPLES} samples; use a shorter range`)
    const { times, values } = await this.#options.store.series.columns({ ...query, limit })
    if (times.length >= limit) throw tooLarge(`it reads more than ${MAX_SAMPLES} samples; use a shorter range`)
    const labels = { [NAME]: name, resource }
    if (values instanceof Float64Array) return { labels, times, values }
    const numbers = [...times].flatMap((time, i) => {
      const value = values[i]
      return typeof value === 'string' || value === undefined ? [] : [[time, Number(value)] as const]
    })
    return { labels, times: numbers.map(([time]) => time), values: numbers.map(([, value]) => value) }
  }

  async #names(matchers: readonly Matcher[], limit: number): Promise<readonly SeriesName[]> {
    const { series } = this.#options.store
    const resource = exact(matchers, 'resource')
    const fits = (one: SeriesName): boolean => fit(matchers, { [NAME]: one.name, resource: one.resource })
    if (resource !== undefined && resource !== '') {
      const latest = await series.latest(resource)
      return latest.map(({ metric }) => ({ resource, name: metric })).filter(fits)
    }
    const found: SeriesName[] = []
    let seen = 0
    for (let after: SeriesName | undefined; ;) {
      const page: readonly SeriesName[] = await series.names({ of: 'samples', limit: PAGE, ...(after && { after }) })
      seen += page.length
      found.push(...page.filter(fits))
      if (found.length > limit) throw tooLarge(`it selects more than ${limit} series; add matchers`)
      if (seen > MAX_NAMES) throw tooLarge(`the tenant has more than ${MAX_NAMES} series; add resource="..."`)
      after = page.at(-1)
      if (page.length < PAGE) return found
    }
  }

  /** A sample for each half of the lookback, and NaN at the end, which ends a series at once. */
  async #alerts(matchers: readonly Matcher[], from = -Infinity, until = Infinity): Promise<readonly Samples[]> {
    const spans = new Map<string, { readonly labels: Labels; readonly points: Map<number, number> }>()
    for (const alarm of await this.#options.alarms(this.#caller)) {
      const { type, severity, resource } = alarm
      const labels = { [NAME]: ALERTS, alertname: type, alertstate: 'firing', resource, severity }
      if (!fit(matchers, labels)) continue
      const key = JSON.stringify(labels)
      const one = spans.get(key) ?? { labels, points: new Map<number, number>() }
      spans.set(key, one)
      if (!Number.isFinite(from)) continue
      const end = Math.min(alarm.until ?? until + 1, until + 1)
      for (let time = Math.max(alarm.from, from + 1); time < end; time += ALERT_STEP_MS) one.points.set(time, 1)
      if (alarm.until !== undefined && alarm.until > from && alarm.until <= until)
        one.points.set(alarm.until, Number.NaN)
    }
    return [...spans.values()].map(({ labels, points }) => {
      const sorted = [...points].toSorted(([a], [b]) => a - b)
      return { labels, times: sorted.map(([time]) => time), values: sorted.map(([, value]) => value) }
    })
  }
}

const ALERT_STEP_MS = LOOKBACK_MS / 2

function mayBeAlerts(matchers: readonly Matcher[]): boolean {
  return matchers.every(({ label, isEqual, pattern }) => label !== NAME || matches(pattern, ALERTS) === isEqual)
}

function exact(matchers: readonly Matcher[], label: string): string | undefined {
  for (const one of matchers) if (one.label === label && one.isEqual && 'text' in one.pattern) return one.pattern.text
  return undefined
}

function fit(matchers: readonly Matcher[], labels: Labels): boolean {
  return matchers.every(({ label, isEqual, pattern }) => matches(pattern, labels[label] ?? '') === isEqual)
}

function matrixOf({ labels, values, has }: Line, times: Float64Array): readonly object[] {
  const points: (readonly [number, string])[] = []
  for (const [i, time] of times.entries()) if (has[i] === 1) points.push(pointOf(time, values[i] ?? 0))
  return points.length === 0 ? [] : [{ metric: labels, values: points }]
}

function pointOf(time: number, value: number): readonly [number, string] {
  const text = value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value)
  return [time / 1_000, text]
}

function success(data: unknown): PromAnswer {
  return { status: 'success', data }
}

function isSet(sent: string | undefined): sent is string {
  return sent !== undefined && sent !== ''
}

function needed(name: string, value: string | undefined): string {
  if (isSet(value)) return value
  throw new AppError('VALIDATION', `\`${name}\` is missing`)
}

function tooLarge(why: string): AppError {
  return new AppError('TOO_LARGE', `the query is too large: ${why}`)
}
