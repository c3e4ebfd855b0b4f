/** Results as tables. Medians over the rounds; shares are ratios of medians of this run. */
import type { MemorySample } from './memory-sample.ts'
import type { Results, Series } from './rounds.ts'
import type { SimulateSample } from './simulate-sample.ts'
import { CLOSURE, PEER } from './subjects/index.ts'
import type { ThroughputSample } from './throughput-sample.ts'
import { workloads } from './workloads/index.ts'

type Row = readonly string[]

/** The tables as text, one after the other. */
export function report(results: Results): string {
  const parts: string[] = []
  for (const [name, series] of results.throughput) {
    parts.push(section(workloads.get(name)?.().title ?? name, throughputRows(series)))
  }
  if (results.simulate.length > 0) {
    parts.push(section('Simulation: one resource, five nodes with gate and cool-down', simulateRows(results.simulate)))
  }
  if (results.memory.length > 0) {
    parts.push(section('Memory: running rules of two sensors, gate, actuator', memoryRows(results.memory)))
  }
  return parts.join('\n')
}

/** One line per failure, empty when there is none. */
export function failures(results: Results): readonly string[] {
  const all: readonly [string, Series<unknown>][] = [
    ...[...results.throughput].flatMap(([name, series]) => series.map((one): [string, Series<unknown>] => [name, one])),
    ...results.simulate.map((one): [string, Series<unknown>] => ['simulate', one]),
    ...results.memory.map((one): [string, Series<unknown>] => ['memory', one]),
  ]
  return all.flatMap(([where, { title, failure }]) => (failure === undefined ? [] : [`${where}, ${title}: ${failure}`]))
}

function throughputRows(all: readonly Series<ThroughputSample>[]): readonly Row[] {
  const rates = (series: Series<ThroughputSample>) => series.samples.map(({ events, cpuMs }) => (events / cpuMs) * 1000)
  const medianOf = (name: string) => {
    const series = all.find((candidate) => candidate.name === name && candidate.failure === undefined)
    return series === undefined ? undefined : median(rates(series))
  }
  const closure = medianOf(CLOSURE)
  const peer = medianOf(PEER)
  return [
    ['subject', 'events/s and core', 'min', 'max', 'ns/event', 'of the closure', 'x json-rules-engine'],
    ...all.map((series): Row => {
      if (series.failure !== undefined) return [series.title, 'FAILED']
      const values = rates(series)
      const middle = median(values)
      return [
        series.title,
        rate(middle),
        rate(Math.min(...values)),
        rate(Math.max(...values)),
        digits(1e9 / middle),
        closure === undefined ? '-' : `${digits((middle / closure) * 100)} %`,
        peer === undefined ? '-' : digits(middle / peer),
      ]
    }),
  ]
}

function simulateRows(all: readonly Series<SimulateSample>[]): readonly Row[] {
  return [
    ['recording', 'messages/s and core', 'min', 'max', 'messages/s by the clock', 'peak RSS'],
    ...all.map(({ title, samples, failure }): Row => {
      if (failure !== undefined) return [title, 'FAILED']
      const byCpu = samples.map(({ messages, cpuMs }) => (messages / cpuMs) * 1000)
      const byClock = samples.map(({ messages, wallMs }) => (messages / wallMs) * 1000)
      return [
        title,
        rate(median(byCpu)),
        rate(Math.min(...byCpu)),
        rate(Math.max(...byCpu)),
        rate(median(byClock)),
        megabytes(median(samples.map(({ peakRss }) => peakRss))),
      ]
    }),
  ]
}

function memoryRows(all: readonly Series<MemorySample>[]): readonly Row[] {
  return [
    ['rules', 'count', 'heap per rule', 'CPU per start', 'RSS'],
    ...all.map(({ title, samples, failure }): Row => {
      if (failure !== undefined) return [title, 'FAILED']
      return [
        title,
        median(samples.map(({ rules }) => rules)).toLocaleString('en'),
        `${digits(median(samples.map(({ heapPerRule }) => heapPerRule)))} B`,
        `${digits(median(samples.map(({ microsPerStart }) => microsPerStart)))} us`,
        megabytes(median(samples.map(({ rss }) => rss))),
      ]
    }),
  ]
}

function section(title: string, rows: readonly Row[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  return (lower + upper) / 2
}

function rate(perSecond: number): string {
  if (perSecond >= 1e6) return `${digits(perSecond / 1e6)} M`
  if (perSecond >= 1e3) return `${digits(perSecond / 1e3)} k`
  return digits(perSecond)
}

/** Three significant digits, without exponent. */
function digits(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}

function megabytes(bytes: number): string {
  return `${digits(bytes / 1_048_576)} MiB`
}
