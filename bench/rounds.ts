/** Runs all samples round by round, so that a slow minute of the machine falls on every subject alike. */
import { sampleInFreshProcess } from './fresh-process.ts'
import type { MemoryKind, MemorySample } from './memory-sample.ts'
import type { Options } from './options.ts'
import type { SimulateSample } from './simulate-sample.ts'
import { subjects } from './subjects/index.ts'
import type { ThroughputSample } from './throughput-sample.ts'
import { workloads } from './workloads/index.ts'

/** All samples of one line of a table, in the order of the rounds. */
export interface Series<Sample> {
  name: string
  title: string
  samples: Sample[]
  /** what went wrong; the line then has no numbers and the run fails */
  failure?: string
}

export interface Results {
  /** per workload name */
  throughput: Map<string, Series<ThroughputSample>[]>
  simulate: Series<SimulateSample>[]
  memory: Series<MemorySample>[]
}

const RECORDINGS = [100_000, 1_000_000]
const MEMORY_RULES = 20_000
const MEMORY_KINDS: readonly { limits: MemoryKind; title: string }[] = [
  { limits: 'same', title: 'one rule on all resources' },
  { limits: 'different', title: 'a rule of its own each' },
]

interface Job {
  label: string
  failed(): boolean
  take(): Promise<void>
}

export async function runRounds(options: Options, progress: (text: string) => void): Promise<Results> {
  const results: Results = { throughput: new Map(), simulate: [], memory: [] }
  const jobs = options.only.flatMap((name) => {
    if (name === 'simulate') return simulateJobs(results.simulate)
    if (name === 'memory') return memoryJobs(results.memory)
    const series: Series<ThroughputSample>[] = []
    results.throughput.set(name, series)
    return throughputJobs(name, series, options)
  })
  for (let round = 1; round <= options.rounds; round++) {
    for (const [i, job] of jobs.entries()) {
      if (job.failed()) continue
      progress(`round ${round} of ${options.rounds}, ${i + 1} of ${jobs.length}: ${job.label}`)
      await job.take()
    }
  }
  return results
}

function throughputJobs(workload: string, all: Series<ThroughputSample>[], options: Options): Job[] {
  if (!workloads.has(workload)) return []
  return subjects
    .filter(({ name, skips }) => options.subjects.includes(name) && !skips?.includes(workload))
    .map(({ name, title }) =>
      job(all, name, title, `${workload} ${title}`, () =>
        sampleInFreshProcess<'throughput'>({
          kind: 'throughput',
          workload,
          subject: name,
          measureMs: options.measureMs,
        }),
      ),
    )
}

function simulateJobs(all: Series<SimulateSample>[]): Job[] {
  return RECORDINGS.map((messages) => {
    const title = `${messages.toLocaleString('en')} messages`
    return job(all, String(messages), title, `simulate ${title}`, () =>
      sampleInFreshProcess<'simulate'>({ kind: 'simulate', messages }),
    )
  })
}

function memoryJobs(all: Series<MemorySample>[]): Job[] {
  return MEMORY_KINDS.map(({ limits, title }) =>
    job(all, limits, title, `memory, ${title}`, () =>
      sampleInFreshProcess<'memory'>({ kind: 'memory', rules: MEMORY_RULES, limits }),
    ),
  )
}

function job<Sample>(
  all: Series<Sample>[],
  name: string,
  title: string,
  label: string,
  take: () => Promise<Sample>,
): Job {
  const series: Series<Sample> = { name, title, samples: [] }
  all.push(series)
  return {
    label,
    failed: () => series.failure !== undefined,
    async take() {
      try {
        series.samples.push(await take())
      } catch (error) {
        // A wrong count or a crash once is enough: no number of this subject is shown.
        series.failure = error instanceof Error ? error.message : String(error)
      }
    },
  }
}
