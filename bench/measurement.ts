/**
 * Measurements: lines sampled side by side, and their table. `--only` takes the name.
 * Each sample of a line comes from its own process.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { digits, median } from './figures.ts'
import type { SampleKind, SampleRequest, Samples } from './samples/sample.ts'

/** Options of a run that affect lines. */
export interface Scope {
  /** CPU time of a throughput sample, ms */
  measureMs: number
  subjects: readonly string[]
  /** cells as `w2`, `odd`, `w2/odd` or `w2/odd/nulls`; empty: all */
  cells: readonly string[]
}

export interface LinePlan<Kind extends SampleKind> {
  name: string
  title: string
  request: Omit<SampleRequest<Kind>, 'kind'>
  needsPeers?: boolean
  /** limit of rounds; default: that of the measurement */
  maxRounds?: number
}

export interface Line<Sample> {
  readonly name: string
  readonly title: string
  readonly needsPeers: boolean
  readonly maxRounds: number
  readonly samples: Sample[]
  failure?: string
  /** Takes a sample of the checkout in the folder `root`. */
  sample(root: string): Promise<Sample>
  cost(sample: Sample): number
}

export type Row = readonly string[]

export interface Section {
  readonly name: string
  readonly title: string
  readonly costUnit: string
  readonly lines: readonly Line<unknown>[]
  /** head of the table, then a row per line */
  rows(): readonly Row[]
  conclusions(): readonly Table[]
}

export interface Table {
  readonly title: string
  readonly rows: readonly Row[]
}

export interface Measurement {
  readonly name: string
  open(scope: Scope): Section
}

/** Cell of a line in a column; `all` for comparisons. */
export type Cell<Sample> = (line: Line<Sample>, all: readonly Line<Sample>[]) => string

interface Definition<Kind extends SampleKind> {
  name: string
  title: string
  lines: readonly LinePlan<Kind>[] | ((scope: Scope) => readonly LinePlan<Kind>[])
  maxRounds?: number
  /** unit cost, such as ns per event; lower is better */
  cost(sample: Samples[Kind]): number
  costUnit: string
  what: string
  columns: readonly (readonly [head: string, cell: Cell<Samples[Kind]>])[]
  conclusions?(lines: readonly Line<Samples[Kind]>[]): readonly Table[]
}

export function measurement<Kind extends SampleKind>(kind: Kind, definition: Definition<Kind>): Measurement {
  const { name, title, costUnit, cost, what, columns, maxRounds = Number.POSITIVE_INFINITY } = definition
  return {
    name,
    open(scope) {
      const plans = typeof definition.lines === 'function' ? definition.lines(scope) : definition.lines
      const lines = plans.map((plan) => lineOf(kind, { maxRounds, ...plan }, cost))
      const row = (line: Line<Samples[Kind]>): Row =>
        line.failure === undefined ? columns.map(([, cell]) => cell(line, lines)) : ['FAILED']
      return {
        name,
        title,
        costUnit,
        lines,
        rows: () => [[what, ...columns.map(([head]) => head)], ...lines.map((line) => [line.title, ...row(line)])],
        conclusions: () =>
          lines.every(({ failure }) => failure === undefined) ? (definition.conclusions?.(lines) ?? []) : [],
      }
    },
  }
}

export function lineOf<Kind extends SampleKind>(
  kind: Kind,
  { name, title, request, needsPeers = false, maxRounds = Number.POSITIVE_INFINITY }: LinePlan<Kind>,
  cost: (sample: Samples[Kind]) => number,
): Line<Samples[Kind]> {
  return {
    name,
    title,
    needsPeers,
    maxRounds,
    samples: [],
    sample: (root) => sampleInFreshProcess(kind, request, root),
    cost,
  }
}

/** Median of a figure over the samples; empty when not measured (NaN). */
export function middle<Sample>(
  of: (sample: Sample) => number,
  show: (figure: number) => string = digits,
): Cell<Sample> {
  return overall(median, of, show)
}

/** As `middle`, with a summary of all samples. */
export function overall<Sample>(
  summary: (figures: readonly number[]) => number,
  of: (sample: Sample) => number,
  show: (figure: number) => string = digits,
): Cell<Sample> {
  return ({ samples }) => {
    const figure = summary(samples.map(of))
    return Number.isNaN(figure) ? '' : show(figure)
  }
}

export const least = (figures: readonly number[]): number => Math.min(...figures)
export const most = (figures: readonly number[]): number => Math.max(...figures)

/** `root`: folder of the checkout to measure. Rejects with the output of the child on a nonzero exit code. */
function sampleInFreshProcess<Kind extends SampleKind>(
  kind: Kind,
  request: Omit<SampleRequest<Kind>, 'kind'>,
  root: string,
): Promise<Samples[Kind]> {
  return new Promise((resolve, reject) => {
    const entry = join(root, 'bench', 'run.ts')
    const args = ['--expose-gc', entry, '--sample', JSON.stringify({ ...request, kind })]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output) as Samples[Kind])
      else reject(new Error(complaint.trim() || `the process ended with ${signal ?? code}`))
    })
  })
}
