/** Reports a rehearsal on the stored data of a host, with the data that it used. */
import type { Rule, Template } from '#core'
import { AppError } from '#kernel'
import type { Client } from '#client'
import type { Rehearsal, RehearsedDifference } from '#services/rules/contract'
import { grouped } from '../numbers.ts'
import { nameOfRule } from '../report/run-report.ts'
import { spanText } from '../report/recording-text.ts'
import type { Zone } from '../zone.ts'
import { COLUMNS, type PlotPoint, PlotPoints } from './plot-points.ts'
import { metricsToPlot, resourcesToPlot, sweptThresholds } from './plotted.ts'
import { type FoundDifference, type Report, reportedFirings } from './report.ts'
import { thresholdsOf } from './thresholds.ts'
import { figuresOfDiff, textOf } from './write-report.ts'

export interface StoredRun {
  readonly answer: Rehearsal
  readonly rule: Rule | Template
  readonly other: Rule | Template | undefined
  readonly variables: Readonly<Record<string, unknown>>
  readonly names: Report['names']
  readonly zone: Zone
}

/** Returns undefined for a rehearsal without a result. */
export async function reportOfRehearsal(
  run: StoredRun,
  series: Client['broker']['series'],
): Promise<Report | undefined> {
  const { answer, rule, other, variables, names, zone } = run
  const { coverage, counts, firings = [], alarms, comparison, sweep } = answer
  if (coverage === undefined || counts === undefined) return undefined
  const { from, until, summary, messages, missingMetrics } = coverage
  const differences = comparison && differencesOf(comparison)
  const fired = new Set([...firings, ...(differences ?? [])].flatMap(({ resource }) => resource ?? []))
  const withData = coverage.items.filter((item) => item.messages > 0)
  const shown = resourcesToPlot(
    withData.flatMap(({ resource }) => resource ?? []),
    fired,
  )
  const resources = await Promise.all(
    shown.map(async (resource) => {
      const item = withData.find((one) => one.resource === resource)
      const names = metricsToPlot(Object.keys(item?.metrics ?? {}), rule)
      const metrics = names.map(async (name) => ({
        name,
        points: await pointsOf(series, { resource, name, from, until }),
      }))
      const all = await Promise.all(metrics)
      return { resource, metrics: all.filter(({ points }) => points.length > 0), gaps: item?.gaps ?? [] }
    }),
  )
  const plain = firings.map((firing) => ({ ...firing, resource: firing.resource ?? undefined }))
  const limits = sweptThresholds(thresholdsOf(rule, variables), sweep?.map(({ values }) => values) ?? [])
  return {
    title: nameOfRule(rule),
    facts: [
      summary,
      spanText(from, until, zone),
      ...missingMetrics.map((name) => `no resource has the metric ${name}`),
    ],
    figures: [
      ['messages', grouped(messages)],
      ...(comparison ? figuresOfDiff(comparison.counts) : [['firings', grouped(counts.firings)] as const]),
      ['alarms raised', grouped(alarms?.raised ?? 0)],
      ['alarms cleared', grouped(alarms?.cleared ?? 0)],
    ],
    names,
    zone,
    from,
    until,
    resources,
    moreResources: coverage.resources.withData - resources.length,
    thresholds: [
      ...(other ? thresholdsOf(other) : []).map((limit) => ({ ...limit, version: 'old' as const })),
      ...limits.map((limit) => ({ ...limit, version: 'new' as const })),
    ],
    firings: reportedFirings(plain, differences, answer.truncated !== true, zone),
    moreFirings: counts.firings - firings.length,
    ...(sweep && {
      sweep: {
        parameters: Object.keys(sweep[0]?.values ?? {}),
        rows: sweep.map(({ values, firings: count, perDay, issue }) => ({
          values: Object.values(values).map(textOf),
          firings: count,
          perDay,
          ...(issue && { issue: issue.message }),
        })),
      },
    }),
  }
}

function differencesOf({ added, removed, moved }: NonNullable<Rehearsal['comparison']>): readonly FoundDifference[] {
  return [...added, ...removed, ...moved]
    .toSorted((a, b) => a.time - b.time)
    .flatMap(({ resource: of, ...found }) => foundDifference(found, of ?? undefined))
}

function foundDifference(
  { time, node, by, firing, other }: Omit<RehearsedDifference, 'resource'>,
  resource: string | undefined,
): readonly FoundDifference[] {
  const about = { time, node, resource }
  if (firing !== undefined && other !== undefined)
    return [{ kind: 'moved', ...about, by: by ?? 0, new: firing, old: other }]
  if (firing !== undefined) return [{ kind: 'onlyNew', ...about, new: firing }]
  return other === undefined ? [] : [{ kind: 'onlyOld', ...about, old: other }]
}

interface PlottedSeries {
  readonly resource: string
  readonly name: string
  readonly from: number
  readonly until: number
}

/** Returns the extremes of each pixel column; none for a series without numbers. */
async function pointsOf(
  series: Client['broker']['series'],
  { resource, name, from, until }: PlottedSeries,
): Promise<readonly PlotPoint[]> {
  const seconds = Math.max(1, Math.ceil((until - from) / COLUMNS / 1_000))
  const points = new PlotPoints(from, until)
  const query = { from, until: until + 1, grouping: `PT${seconds}S`, aggregates: 'min,max', limit: 2 * COLUMNS }
  const answer = await series.get(resource, name, query).catch((error: unknown) => {
    // the data may have been removed meanwhile
    if (error instanceof AppError && error.code === 'NOT_FOUND') return { series: [] }
    throw error
  })
  for (const [time, ...extremes] of answer.series) {
    for (const value of extremes) if (typeof value === 'number') points.add(Math.max(from, Number(time)), value)
  }
  return points.points
}
