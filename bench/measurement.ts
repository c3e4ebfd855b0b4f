/**
 * What a measurement is: lines that are sampled side by side, and a table of them. `--only` takes its name.
 * Each sample of a line comes from a process of its own.
 */
import { sampleInFreshProcess } from './fresh-process.ts'
import type { SampleKind, SampleRequest, Samples } from './samples/sample.ts'

/** What a run is asked for, as far as lines depend on it. */
export interface Scope {
  /** CPU time that a throughput sample measures, ms */
  measureMs: number
  /** messages that `broker-memory` posts */
  messages: number
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
  request: Extract<SampleRequest, { kind: Kind }>
  /** flags of node for the process of the sample */
  flags?: readonly string[]
  /** whether packages of bench/package.json must be there */
  needsPeers?: boolean
  /** samples are taken in that many rounds at most */
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

interface Definition<Kind extends SampleKind> {
  name: string
  title: string
  lines(scope: Scope): readonly LinePlan<Kind>[]
  /** what one thing costs, such as ns per event; lower is better */
  cost(sample: Samples[Kind]): number
  costUnit: string
  head: Row
  /** the cells of a line after its title; `all` to compare with others */
  cells(line: Line<Samples[Kind]>, all: readonly Line<Samples[Kind]>[]): Row
  /** asked only when no line failed */
  conclusions?(lines: readonly Line<Samples[Kind]>[]): readonly Table[]
}

export function measurement<Kind extends SampleKind>(definition: Definition<Kind>): Measurement {
  const { name, title, costUnit, cost, head, cells } = definition
  return {
    name,
    open(scope) {
      const lines = definition.lines(scope).map((plan) => lineOf<Kind>(plan, cost))
      return {
        name,
        title,
        costUnit,
        lines,
        rows: () => [
          head,
          ...lines.map((line) => [line.title, ...(line.failure === undefined ? cells(line, lines) : ['FAILED'])]),
        ],
        conclusions: () =>
          lines.every(({ failure }) => failure === undefined) ? (definition.conclusions?.(lines) ?? []) : [],
      }
    },
  }
}

export function lineOf<Kind extends SampleKind>(
  plan: LinePlan<Kind>,
  cost: (sample: Samples[Kind]) => number,
): Line<Samples[Kind]> {
  return {
    name: plan.name,
    title: plan.title,
    needsPeers: plan.needsPeers ?? false,
    maxRounds: plan.maxRounds ?? Number.POSITIVE_INFINITY,
    samples: [],
    sample: (root) => sampleInFreshProcess<Kind>(plan.request, { root, flags: plan.flags ?? [] }),
    cost,
  }
}
