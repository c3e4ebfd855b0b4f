/** Writes the HTML report of `--html`. */
import { writeFile } from 'node:fs/promises'
import type { Diff } from '#core'
import type { Sweep } from '#library'
import { AppError, messageOf } from '#kernel'
import { grouped } from '../numbers.ts'
import type { Opened } from '../open-playback.ts'
import { nameOfRule } from '../report/run-report.ts'
import { recordingText, spanText } from '../report/recording-text.ts'
import type { Terminal } from '../terminal.ts'
import type { Zone } from '../zone.ts'
import { pageOf } from './page.ts'
import { sweptThresholds } from './plotted.ts'
import { type Report, reportedFirings } from './report.ts'
import type { RunRecorder } from './run-recorder.ts'
import { thresholdsOf } from './thresholds.ts'

export const HTML = ['--html <file>', 'also write a page with the data, limits and firings as a plot'] as const

export async function writeReport(path: string, report: Report, terminal: Terminal): Promise<void> {
  try {
    await writeFile(path, pageOf(report))
  } catch (error) {
    const text = `--html: ${path} cannot be written: ${messageOf(error)}; name a file in an existing folder`
    throw new AppError('NOT_FOUND', text, { cause: error })
  }
  terminal.err(`the report is in ${path}\n`)
}

/** What a run over a recording found, in addition to the recorded messages and firings. */
export interface RunFacts {
  readonly opened: Opened
  readonly recorder: RunRecorder
  readonly zone: Zone
  readonly variables: Readonly<Record<string, unknown>>
  /** paths of the rules */
  readonly names: Report['names']
  readonly messages: number
  readonly diff?: Diff
  readonly sweep?: Sweep
}

/** Reports a run over a recording: the last of its rules is the new one. */
export function reportOfRun({ opened, recorder, zone, variables, names, messages, diff, sweep }: RunFacts): Report {
  const [first, second] = opened.rules
  const rule = second ?? first ?? {}
  const { from, until, firings, moreFirings } = recorder
  const limits = thresholdsOf(rule, variables)
  const old = second === undefined || first === undefined ? [] : thresholdsOf(first, variables)
  return {
    title: nameOfRule(rule),
    facts: [recordingText(opened.recording?.recording), spanText(from, until, zone)],
    figures: [
      ['messages', grouped(messages)],
      ...(sweep ? [['runs', grouped(sweep.rows.length)] as const] : []),
      ...(sweep || diff ? [] : [['firings', grouped(firings.length + moreFirings)] as const]),
      ...figuresOfDiff(diff && sumOf(diff)),
    ],
    names,
    zone,
    from,
    until,
    ...recorder.plotted(rule),
    thresholds: [
      ...old.map((limit) => ({ ...limit, version: 'old' as const })),
      ...sweptThresholds(limits, sweep?.rows.map(({ values }) => values) ?? []).map((limit) => {
        return { ...limit, version: 'new' as const }
      }),
    ],
    firings: reportedFirings(
      firings,
      diff?.differences.map((one) => ({ ...one, resource: resourceOf(one) })),
      diff === undefined || diff.more === 0,
      zone,
    ),
    moreFirings,
    ...(sweep && {
      sweep: {
        parameters: sweep.parameters,
        rows: sweep.rows.map(({ values, fired, perDay }) => ({
          values: sweep.parameters.map((path) => textOf(values[path])),
          firings: sumOfValues(fired),
          perDay: Object.values(perDay).includes(null) ? null : sumOfValues(perDay),
        })),
      },
    }),
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export interface DifferenceCounts {
  readonly equal: number
  readonly added: number
  readonly removed: number
  readonly moved: number
}

export function figuresOfDiff(counts: DifferenceCounts | undefined): Report['figures'] {
  if (counts === undefined) return []
  const { equal, added, removed, moved } = counts
  return [
    ['firings of old', grouped(equal + moved + removed)],
    ['firings of new', grouped(equal + moved + added)],
    ['equal', grouped(equal)],
    ['moved', grouped(moved)],
    ['only old', grouped(removed)],
    ['only new', grouped(added)],
  ]
}

function sumOf({ nodes }: Diff): DifferenceCounts {
  const sum = { equal: 0, added: 0, removed: 0, moved: 0 }
  for (const { equal, moved, onlyOld, onlyNew } of nodes) {
    sum.equal += equal
    sum.moved += moved
    sum.removed += onlyOld
    sum.added += onlyNew
  }
  return sum
}

function resourceOf(difference: Diff['differences'][number]): string | undefined {
  const { why } = difference.kind === 'onlyOld' ? difference.old : difference.new
  return why?.input.resource
}

function sumOfValues(counts: Readonly<Record<string, number | null>>): number {
  return Object.values(counts).reduce((sum: number, count) => sum + (count ?? 0), 0)
}
