/**
 * Benchmarks a rule over messages, relative to a loop generated from the rule.
 *
 * BENCHRULE-1 each sample runs in its own process, and each round samples all lines, so that a slow minute of the
 *   machine affects all of them
 * BENCHRULE-2 a share compares with a limit that fired the same actuators at the same messages, otherwise it is absent
 * BENCHRULE-3 verdicts are withheld when equal code, sampled in the same rounds, differs
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message, Rule, Template } from '#core'
import { instantOf, settingsOf } from '#core/spi'
import { AppError } from '#kernel'
import { sampleInProcess } from './bench-process-handle.ts'
import { comparisonWith, costsOf, type Baseline } from './compare-lines.ts'
import { median } from './figures.ts'
import { originOf } from './machine.ts'
import type { BenchWork, CheckSample, LatencySample, Listen, RateSample } from './request.ts'
import type { BenchLine, BenchResult, LineName } from './result.ts'
import { estimate } from './statistics.ts'

export interface BenchRuleOptions {
  /** messages with a `timestamp`, epoch ms or ISO 8601; kept in memory, at most 500,000 */
  readonly messages: Iterable<Message> | AsyncIterable<Message>
  /** resource of the task; default: the rule's own */
  readonly resource?: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly plugs?: readonly string[]
  /** number of tasks of the rule, each with its own resource and messages; default 1 */
  readonly copies?: number
  /** default `none`, `fired` and `why` */
  readonly listen?: readonly Listen[]
  /** samples per line; default 6 */
  readonly rounds?: number
  /** CPU time of a sample after its warm-up, in seconds; default 0.3 */
  readonly seconds?: number
  /** messages per second when measuring lateness; default: half of a core's capacity, at most 100,000 */
  readonly rate?: number
  readonly name?: string
  readonly baseline?: Baseline
  readonly against?: Against
  /** a significant slowdown above this share fails the gate; default 0.05 */
  readonly failOver?: number
  readonly profile?: string
  readonly onProgress?: (done: number, what: string) => void
}

export interface Against {
  readonly name: string
  readonly rule: Rule | Template
  readonly plugs: readonly string[]
  /** script of the benchmark processes; default: the one of this package */
  readonly entry?: string
}

const MAX_MESSAGES = 500_000
const MAX_COPIES = 100_000
const MAX_ROUNDS = 1000
const FASTEST_RATE = 100_000
const LATENCY_ROUNDS = 3

/** Rejects with `VALIDATION` for invalid options or messages, `BAD_RECORDING`, and the errors of starting the rule. */
export async function benchRule(rule: Rule | Template, options: BenchRuleOptions): Promise<BenchResult> {
  const { copies = 1, rounds = 6, seconds = 0.3 } = options
  checkOptions(rule, options)
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-bench-'))
  try {
    const messagesFile = join(folder, 'messages.ndjson')
    await writeMessages(messagesFile, options.messages)
    const work: BenchWork = {
      rule,
      messagesFile,
      plugs: options.plugs ?? [],
      resource: options.resource ?? settingsOf(rule).resource,
      variables: options.variables ?? {},
      copies,
    }
    return await new RuleBench(work, options, rounds, seconds * 1000).run()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function checkOptions(rule: Rule | Template, options: BenchRuleOptions): void {
  const { copies = 1, rounds = 6, seconds = 0.3, rate, failOver, listen = [] } = options
  const problems: string[] = []
  const whole = (name: string, value: number, most: number) => {
    if (!Number.isInteger(value) || value < 1 || value > most)
      problems.push(`${name}: ${value} is out of range; use a whole number from 1 to ${most}`)
  }
  whole('copies', copies, MAX_COPIES)
  whole('rounds', rounds, MAX_ROUNDS)
  if (!(seconds > 0 && seconds <= 60))
    problems.push(`seconds: ${seconds} is out of range; use more than 0 and at most 60`)
  if (rate !== undefined && !(rate >= 1 && rate <= 1e7))
    problems.push(`rate: ${rate} is out of range; use 1 to 10,000,000 a second`)
  if (failOver !== undefined && !(failOver >= 0 && failOver < 1))
    problems.push(`failOver: ${failOver} is out of range; use a share from 0 to 1, such as 0.05`)
  if (new Set(listen).size < listen.length) problems.push('listen: a name appears twice; use each once')
  if (copies > 1 && (options.resource ?? settingsOf(rule).resource) === undefined)
    problems.push('copies: the task lacks a resource; set one, which each copy renames')
  if (options.baseline !== undefined && options.against !== undefined)
    problems.push('baseline and against are both set; use one of them')
  if (problems.length > 0) throw new AppError('VALIDATION', problems.join('\n'))
}

async function writeMessages(file: string, messages: Iterable<Message> | AsyncIterable<Message>): Promise<void> {
  const lines: string[] = []
  for await (const message of messages) {
    if (lines.length >= MAX_MESSAGES) break
    lines.push(JSON.stringify({ ...message, timestamp: instantOf(message, lines.length + 1) }))
  }
  if (lines.length === 0) throw new AppError('VALIDATION', 'the messages are empty; use at least one')
  writeFileSync(file, lines.join('\n'))
}

interface Job {
  readonly name: LineName
  readonly label: string
  readonly samples: RateSample[]
  sample(): Promise<RateSample>
}

class RuleBench {
  readonly #work: BenchWork
  readonly #options: BenchRuleOptions
  readonly #rounds: number
  readonly #measureMs: number
  #done = 0
  #steps = 1

  constructor(work: BenchWork, options: BenchRuleOptions, rounds: number, measureMs: number) {
    this.#work = work
    this.#options = options
    this.#rounds = rounds
    this.#measureMs = measureMs
  }

  async run(): Promise<BenchResult> {
    const { listen = ['none', 'fired', 'why'], name = 'rule' } = this.#options
    this.#tell('what the rule does')
    const checked = await sampleInProcess({ kind: 'check', work: this.#work })
    refuseUnheard(checked, this.#work)
    const jobs = this.#jobs(checked, listen)
    const latencies = Math.min(LATENCY_ROUNDS, this.#rounds)
    this.#steps = jobs.length * this.#rounds + latencies + 1
    await this.#takeRounds(jobs)
    const lines = linesOf(jobs.filter(({ label }) => !label.startsWith(ELSEWHERE)))
    const fastest = lines.find(({ name: line }) => line !== 'limit')?.rate.value ?? FASTEST_RATE
    const latency = await this.#latency(
      this.#options.rate ?? Math.min(FASTEST_RATE, Math.max(1, Math.round(fastest / 2))),
      latencies,
    )
    if (this.#options.profile !== undefined) await this.#profile(listen, this.#options.profile)
    const comparison = this.#comparison(jobs, lines)
    const limit = fastestLimit(jobs)?.label
    return {
      format: 1,
      origin: originOf(process.cwd()),
      rule: name,
      copies: this.#work.copies,
      rounds: this.#rounds,
      messages: checked.messages,
      lookedAt: checked.lookedAt,
      unheard: checked.unheard,
      firings: checked.firings,
      limits: checked.limits,
      ...(limit !== undefined && { limit }),
      lines,
      latency,
      ...(comparison !== undefined && { comparison }),
    }
  }

  #jobs({ limits }: CheckSample, listen: readonly Listen[]): readonly Job[] {
    const { against, baseline } = this.#options
    const here = (name: LineName, label: string, index = 0): Job => this.#job(name, label, index)
    const jobs = 'reason' in limits ? [] : limits.map(({ name }, index) => here('limit', name, index))
    for (const name of listen) {
      jobs.push(here(name, name))
      if (against !== undefined) jobs.push(this.#job(name, ELSEWHERE + name, 0, against))
    }
    const [first] = listen
    if (first !== undefined && (against !== undefined || baseline !== undefined))
      jobs.push(here(first, ELSEWHERE + AGAIN))
    return jobs
  }

  #job(who: LineName, label: string, index: number, other?: Against): Job {
    const work = other === undefined ? this.#work : { ...this.#work, rule: other.rule, plugs: other.plugs }
    const entry = other?.entry === undefined ? {} : { entry: other.entry }
    const request = { kind: 'rate', who, index, measureMs: this.#measureMs, work } as const
    return { name: who, label, samples: [], sample: () => sampleInProcess(request, entry) }
  }

  async #takeRounds(jobs: readonly Job[]): Promise<void> {
    for (let round = 1; round <= this.#rounds; round++) {
      // alternates the order, so that each line follows different ones
      for (const job of round % 2 === 0 ? jobs.toReversed() : jobs) {
        this.#tell(`round ${round} of ${this.#rounds}: ${job.label}`)
        job.samples.push(await job.sample())
      }
    }
  }

  async #latency(rate: number, rounds: number): Promise<LatencySample> {
    // collects enough messages for the 99.9th percentile, within a time limit
    const measureMs = Math.min(5000, Math.max(3 * this.#measureMs, (10_000 / rate) * 1000))
    const samples: LatencySample[] = []
    for (let i = 0; i < rounds; i++) {
      this.#tell(`lateness at ${rate} messages a second`)
      samples.push(await sampleInProcess({ kind: 'latency', work: this.#work, rate, measureMs }))
    }
    const of = (key: keyof LatencySample) => median(samples.map((sample) => sample[key]))
    return {
      rate,
      messages: of('messages'),
      p50: of('p50'),
      p90: of('p90'),
      p99: of('p99'),
      p999: of('p999'),
      max: of('max'),
    }
  }

  async #profile(listen: readonly Listen[], folder: string): Promise<void> {
    for (const who of listen) {
      this.#tell(`profile: ${who}`)
      const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=reflexarc-bench-${who}.cpuprofile`]
      await sampleInProcess({ kind: 'rate', who, index: 0, measureMs: 1000, work: this.#work }, { flags })
    }
  }

  #comparison(jobs: readonly Job[], lines: readonly BenchLine[]) {
    const { against, baseline, failOver } = this.#options
    if (against === undefined && baseline === undefined) return undefined
    const [again] = jobs.filter(({ label }) => label === ELSEWHERE + AGAIN)
    const others = jobs.filter(({ label }) => label.startsWith(ELSEWHERE) && label !== ELSEWHERE + AGAIN)
    return comparisonWith(lines, {
      again: again === undefined ? [] : costsOf(again.samples),
      other: baseline ?? { name: against?.name ?? '', lines: linesOf(others) },
      paired: baseline === undefined,
      failOver,
    })
  }

  #tell(what: string): void {
    this.#options.onProgress?.(this.#done / this.#steps, what)
    this.#done++
  }
}

/** prefixes the labels of lines that are sampled only for a comparison */
const ELSEWHERE = 'compared: '
const AGAIN = 'the first line again'

function linesOf(jobs: readonly Job[]): readonly BenchLine[] {
  const limit = fastestLimit(jobs)
  return jobs
    .filter((job) => job.name !== 'limit' || job === limit)
    .map(({ name, samples }) => {
      const shares = samples.flatMap((sample, i) => {
        const best = limit?.samples[i]
        return best === undefined ? [] : [rateOf(sample) / rateOf(best)]
      })
      const line = { name, samples, rate: estimate(samples.map(rateOf)) }
      return shares.length === 0 || name === 'limit' ? line : { ...line, ofLimit: estimate(shares) }
    })
}

function fastestLimit(jobs: readonly Job[]): Job | undefined {
  const limits = jobs.filter(({ name }) => name === 'limit')
  const [fastest] = limits.toSorted((a, b) => median(b.samples.map(rateOf)) - median(a.samples.map(rateOf)))
  return fastest
}

function rateOf({ messages, cpuMs }: RateSample): number {
  return (messages / cpuMs) * 1000
}

function refuseUnheard({ unheard, others, lookedAt }: CheckSample, { resource }: BenchWork): void {
  if (unheard < lookedAt) return
  throw new AppError(
    'VALIDATION',
    `the messages are not about a resource of the rule${resource === undefined ? '' : ` (the task's is ${resource})`}: ` +
      `they are about ${others.join(', ')}; use one of them as the resource of the task`,
  )
}
