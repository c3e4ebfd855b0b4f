/** What a rehearsal reads of the past, in its own thread or from another. */
import type { KeptInputs, KeptSource } from '../inputs/contract.ts'
import { KeptReader } from '../inputs/kept-reader.ts'
import type { SampleColumns } from '#storage'

export interface RehearsalHistory {
  metrics(resource: string): Promise<readonly string[]>
  /** Returns the time of the newest sample, epoch ms; undefined without samples. */
  newest(resource: string): Promise<number | undefined>
  /** Returns samples in order of time, both ends inclusive, at most `SAMPLES_AT_ONCE`. */
  samples(resource: string, metric: string, from: number, until: number): Promise<SampleColumns>
  /** Returns the number of samples by metric, both ends inclusive. */
  counts(resource: string, from: number, until: number): Promise<Readonly<Record<string, number>>>
  /** absent: no inputs are kept */
  readonly inputs?: KeptInputs | undefined
}

/** A method of a history and its arguments, as they pass between threads. */
export type AskHistory = (method: string, args: readonly unknown[]) => Promise<unknown>

/** Answers the questions of `historyBehind`. `end` releases what unfinished readers hold. */
export function historyAnswers(history: RehearsalHistory): { readonly answer: AskHistory; end(): void } {
  const { inputs } = history
  const source = inputs?.source
  let readers = 0
  const methods: Readonly<Record<string, ((...args: never) => unknown) | undefined>> = {
    metrics: (resource: string) => history.metrics(resource),
    newest: (resource: string) => history.newest(resource),
    samples: (...range: Parameters<RehearsalHistory['samples']>) => history.samples(...range),
    counts: (...range: Parameters<RehearsalHistory['counts']>) => history.counts(...range),
    since: () => inputs?.since(),
    checkpoint: (...before: Parameters<KeptInputs['checkpoint']>) => inputs?.checkpoint(...before),
    view: () => source?.view(),
    bytes: (...part: Parameters<KeptSource['bytes']>) => source?.bytes(...part),
    logged: (...part: Parameters<KeptSource['logged']>) => source?.logged(...part),
    report: (text: string) => source?.report(text),
    open: () => {
      readers++
      return source?.open()
    },
    close: () => {
      readers--
      return source?.close()
    },
  }
  return {
    answer: async (method, args) => methods[method]?.(...(args as never)),
    end() {
      for (; readers > 0; readers--) void source?.close()
    },
  }
}

export function historyBehind(ask: AskHistory, keepsInputs: boolean): RehearsalHistory {
  const asking =
    <Answer>(method: string) =>
    (...args: readonly unknown[]) =>
      ask(method, args) as Promise<Answer>
  const source: KeptSource = {
    open: asking('open'),
    close: asking('close'),
    view: asking('view'),
    bytes: asking('bytes'),
    logged: asking('logged'),
    report: asking('report'),
  }
  const reader = new KeptReader(source)
  const inputs: KeptInputs = {
    source,
    since: asking('since'),
    checkpoint: asking('checkpoint'),
    read: (range, signal) => reader.read(range, signal),
  }
  return {
    metrics: asking('metrics'),
    newest: asking('newest'),
    samples: asking('samples'),
    counts: asking('counts'),
    ...(keepsInputs && { inputs }),
  }
}
