/** Defines the content of an HTML report, and finds which firings two versions of a rule have in common. */
import type { Difference, FiredEvent } from '#core'
import { reasonLines } from '../report/diff-text.ts'
import { whyLines } from '../report/timeline.ts'
import { causeOf, valuesText } from '#core/sentences'
import { plain } from '../terminal.ts'
import { formatSpan } from '../time-text.ts'
import type { Zone } from '../zone.ts'
import type { PlotPoint } from './plot-points.ts'
import type { Threshold } from './thresholds.ts'

export type Version = 'old' | 'new'

export interface Report {
  readonly title: string
  readonly facts: readonly string[]
  readonly figures: readonly (readonly [label: string, value: string])[]
  /** the compared rules; without `old`, the report is about one rule */
  readonly names: { readonly old?: string; readonly new: string }
  readonly zone: Zone
  /** epoch ms */
  readonly from: number
  readonly until: number
  readonly resources: readonly PlottedResource[]
  readonly moreResources: number
  readonly thresholds: readonly (Threshold & { readonly version: Version })[]
  /** in order of time */
  readonly firings: readonly ReportedFiring[]
  readonly moreFirings: number
  readonly sweep?: ReportedSweep
}

export interface PlottedResource {
  readonly resource: string
  readonly metrics: readonly { readonly name: string; readonly points: readonly PlotPoint[] }[]
  readonly gaps: readonly { readonly from: number; readonly until: number }[]
}

export interface ReportedFiring {
  readonly time: number
  /** undefined: of all resources of the report */
  readonly resource: string | undefined
  readonly node: string
  readonly version: Version | 'both'
  /** for a firing that both have at different times: how the new one moved, and the time of the old one */
  readonly moved?: { readonly by: string; readonly from: number }
  readonly cause: string
  /** values of the message that led to it */
  readonly values?: string
  readonly why: readonly string[]
}

export interface ReportedSweep {
  readonly parameters: readonly string[]
  readonly rows: readonly {
    readonly values: readonly string[]
    readonly firings: number
    readonly perDay: number | null
    readonly issue?: string
  }[]
}

export type PlainFiring = Pick<FiredEvent, 'time' | 'node' | 'source' | 'why'> & {
  readonly resource: string | undefined
}
export type FoundDifference = Difference & { readonly resource: string | undefined }

/** Lists the firings of the new rule, and firings that only the old one has. `isWhole`: all differences are listed. */
export function reportedFirings(
  fired: readonly PlainFiring[],
  differences: readonly FoundDifference[] | undefined,
  isWhole: boolean,
  zone: Zone,
): readonly ReportedFiring[] {
  const known = new Map<string, FoundDifference[]>()
  for (const difference of differences ?? []) {
    if (difference.kind === 'onlyOld') continue
    const key = keyOf({ ...difference, time: difference.new.time })
    known.set(key, [...(known.get(key) ?? []), difference])
  }
  const end = isWhole ? Number.POSITIVE_INFINITY : Math.max(0, ...(differences ?? []).map(({ time }) => time))
  const both = fired
    .filter(({ time }) => time <= end)
    .map((firing): ReportedFiring => {
      const difference = known.get(keyOf(firing))?.shift()
      const version = differences === undefined || difference?.kind === 'onlyNew' ? 'new' : 'both'
      return shownFiring(firing, version, difference, zone)
    })
  const old = (differences ?? []).flatMap((difference) =>
    difference.kind === 'onlyOld' ? [shownFiring({ ...difference, ...difference.old }, 'old', difference, zone)] : [],
  )
  return [...both, ...old].toSorted((a, b) => a.time - b.time)
}

function keyOf({ time, resource = '', node }: Pick<PlainFiring, 'time' | 'resource' | 'node'>): string {
  return `${time}\n${resource}\n${node}`
}

function shownFiring(
  { time, resource, node, source, why }: PlainFiring,
  version: ReportedFiring['version'],
  difference: FoundDifference | undefined,
  zone: Zone,
): ReportedFiring {
  const moved = difference?.kind === 'moved' && {
    by: `${formatSpan(Math.abs(difference.by))} ${difference.by < 0 ? 'earlier' : 'later'}`,
    from: difference.old.time,
  }
  const values = why?.input.values
  return {
    time,
    resource,
    node,
    version,
    ...(moved && { moved }),
    ...(values && { values: valuesText(values) }),
    cause: causeOf({ source, ...(why && { why }) }),
    why: [...(why === undefined ? [] : whyLines(why, zone, plain)), ...(difference ? reasonLines(difference) : [])],
  }
}
