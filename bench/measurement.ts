/**
 * What a measurement is: lines that are sampled side by side, and a table of them. `--only` takes its name.
 * Each sample of a line comes from a process of its own.
 */
import { digits, median } from './figures.ts'
import { sampleInFreshProcess } from './fresh-process.ts'
import type { SampleKind, SampleRequest, Samples } from './samples/sample.ts'

/** What a run is asked for, as far as lines depend on it. */
export interface Scope {
  /** CPU time that a throughput sample measures, ms */
  measureMs: number
  /** names of the subjects to measure */
  subjects: readonly string[]
  /** cells as `w2`, `odd`, `w2/odd` or `w2/odd/nulls`; empty: all */
  cells: readonly string[]
}

/** A line as a measurement declares it. */
export interface LinePlan<Kind extends SampleKind> {
  name: string
  /** as tables show it */
  title: string
  request: Omit<SampleRequest<Kind>, 'kind'>
  /** whether packages of bench/package.json must be there */
  needsPeers?: boolean
  /** samples are taken in that many rounds at most; default: that of the measurement */
  maxRounds?: number
}

/** A line with all its samples, in the order of the rounds. */
export interface Line<Sample> {
  readonly name: string
  readonly title: string
  readonly needsPeers: boolean
  readonly maxRounds: number
  readonly samples: Sample[]
  /** what went wrong; the line then has no numbers and the run fails */
  failure?: string
  /** One more sample, of the checkout in the folder `root`. */
  sample(root: string): Promise<Sample>
  /** what is compared between checkouts; lower is better */
  cost(sample: Sample): number
}

export type Row = readonly string[]

export interface Section {
  readonly name: string
  readonly title: string
  readonly costUnit: string
  readonly lines: readonly Line<unknown>[]
  /** the head of the table, then a row per line */
  rows(): readonly Row[]
  /** what follows from all lines together */
  conclusions(): readonly Table[]
}

export interface Table {
  readonly title: string
  /** the first is the head */
  readonly rows: readonly Row[]
}

export interface Measurement {
  readonly name: string
  open(scope: Scope): Section
}

/** What a line shows in a column; `all` to compare with others. */
export type Cell<Sample> = (line: Line<Sample>, all: readonly Line<Sample>[]) => string

interface Definition<Kind extends SampleKind> {
  name: string
  title: string
  lines: readonly LinePlan<Kind>[] | ((scope: Scope) => readonly LinePlan<Kind>[])
  /** samples of a line are taken in that many rounds at most */
  maxRounds?: number
  /** what one thing costs, such as ns per event; lower is better */
  cost(sample: Samples[Kind]): number
  costUnit: string
  /** head of the column of titles */
  what: string
  /** head and cell of each column after that */
  columns: readonly (readonly [head: string, cell: Cell<Samples[Kind]>])[]
  /** asked only when no line failed */
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

/** The median of a figure over the samples; empty when it was not measured, which is NaN. */
export function middle<Sample>(
  of: (sample: Sample) => number,
  show: (figure: number) => string = digits,
): Cell<Sample> {
  return overall(median, of, show)
}

/** As `middle`, of what `summary` makes of all samples. */
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
