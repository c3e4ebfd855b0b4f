/** What a rehearsal reads of the past, in its own thread or from another. */
import type { InputCheckpoint, InputRange, KeptInput, KeptInputs } from '../inputs/contract.ts'
import type { SampleColumns } from '#storage'

export interface RehearsalHistory {
  metrics(resource: string): Promise<readonly string[]>
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
  const readers = new Map<number, AsyncIterator<readonly KeptInput[]>>()
  const methods: Readonly<Record<string, (...args: never) => unknown>> = {
    metrics: (resource: string) => history.metrics(resource),
    samples: (...range: Parameters<RehearsalHistory['samples']>) => history.samples(...range),
    counts: (...range: Parameters<RehearsalHistory['counts']>) => history.counts(...range),
    since: () => inputs?.since(),
    checkpoint: (...before: Parameters<KeptInputs['checkpoint']>) => inputs?.checkpoint(...before),
    open: (range: InputRange) => {
      const id = readers.size
      if (inputs !== undefined) readers.set(id, inputs.read(range)[Symbol.asyncIterator]())
      return id
    },
    next: async (id: number) => {
      const found = await readers.get(id)?.next()
      return found?.done === false ? found.value : undefined
    },
    close: (id: number) => readers.get(id)?.return?.(),
  }
  return {
    answer: async (method, args) => methods[method]?.(...(args as never)),
    end() {
      for (const reader of readers.values()) void reader.return?.()
    },
  }
}

export function historyBehind(ask: AskHistory, keepsInputs: boolean): RehearsalHistory {
  const inputs: KeptInputs = {
    since: () => ask('since', []) as ReturnType<KeptInputs['since']>,
    checkpoint: (...before) => ask('checkpoint', before) as Promise<InputCheckpoint | undefined>,
    async *read(range, signal) {
      const id = await ask('open', [range])
      try {
        for (;;) {
          signal?.throwIfAborted()
          const batch = (await ask('next', [id])) as readonly KeptInput[] | undefined
          if (batch === undefined) return
          yield batch
        }
      } finally {
        await ask('close', [id])
      }
    },
  }
  return {
    metrics: (resource) => ask('metrics', [resource]) as Promise<readonly string[]>,
    samples: (...range) => ask('samples', range) as Promise<SampleColumns>,
    counts: (...range) => ask('counts', range) as ReturnType<RehearsalHistory['counts']>,
    ...(keepsInputs && { inputs }),
  }
}
