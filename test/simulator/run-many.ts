/**
 * Runs seeds in several processes, or for hours. Each process takes one portion after the other. Results are saved as
 * they arrive, so that a later call continues where this one was interrupted.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { FEW_SEEDS, type Values } from './options.ts'
import type { Portion } from './portion.ts'
import { Report, type Met } from './report.ts'

/** seeds per portion: the most that is repeated when a process is killed */
const PORTION = 25
const PROGRAM = new URL('main.ts', import.meta.url)
/**
 * V8 flags of these processes. A host that starts and dies leaves many objects that die with it; a small young
 * generation would first move them to the old one. Code is compiled at once, since most of it runs only a few hundred
 * times.
 */
const V8_FLAGS = ['--max-semi-space-size=64', '--single-threaded-gc', '--always-sparkplug']

/** The results so far, and the portions to run first. */
interface Progress {
  /** the first seed that no process has taken */
  next: number
  /** portions taken and not finished */
  open: Portion[]
  met: Met
  /** total duration in ms */
  ms: number
}

export function isForMany({ hours, workers, report, worker, mutants }: Values): boolean {
  return !worker && !mutants && (hours !== undefined || report !== undefined || Number(workers) > 1)
}

/** Returns 1 if any run found something, now or before. */
export async function runMany(values: Values, args: readonly string[]): Promise<number> {
  const runs = new ManyRuns(values)
  const count = Math.max(1, Number(values.workers))
  await Promise.all(Array.from({ length: count }, () => runs.work(args)))
  console.log(runs.report.text())
  return runs.report.failed > 0 ? 1 : 0
}

class ManyRuns {
  readonly report: Report
  readonly #file: string | undefined
  readonly #progress: Progress
  /** unfinished portions of an earlier call */
  readonly #left: Portion[]
  /** returns the ms passed, including earlier calls */
  readonly #passed: () => number
  readonly #isOver: () => boolean
  readonly #end: number

  constructor({ from, seeds, hours, report: file }: Values) {
    this.#file = file
    const first = Number(from)
    this.#progress =
      file !== undefined && existsSync(file)
        ? (JSON.parse(readFileSync(file, 'utf8')) as Progress)
        : { next: first, open: [], met: new Report().met, ms: 0 }
    this.report = new Report(this.#progress.met)
    this.#left = this.#progress.open
    this.#progress.open = []
    const before = this.#progress.ms
    const began = performance.now()
    this.#passed = () => before + performance.now() - began
    this.#isOver = () => hours !== undefined && this.#passed() > Number(hours) * 3_600_000
    this.#end = hours === undefined ? first + Number(seeds ?? FEW_SEEDS) : Infinity
  }

  /** Lets one process run portions until none is left. */
  async work(args: readonly string[]): Promise<void> {
    const worker = fork(PROGRAM, [...args, '--worker'], { execArgv: [...process.execArgv, ...V8_FLAGS] })
    try {
      for (let portion = this.#take(); portion !== undefined; portion = this.#take()) {
        const met = await answerOf(worker, portion)
        this.report.join(met)
        this.#progress.open = this.#progress.open.filter((one) => one !== portion)
        this.#write()
      }
    } finally {
      if (worker.connected) worker.disconnect()
    }
  }

  #take(): Portion | undefined {
    if (this.#isOver()) return undefined
    const portion = this.#left.shift() ?? this.#fresh()
    if (portion === undefined) return undefined
    this.#progress.open.push(portion)
    this.#write()
    return portion
  }

  #fresh(): Portion | undefined {
    const { next } = this.#progress
    const count = Math.min(PORTION, this.#end - next)
    if (count <= 0) return undefined
    this.#progress.next = next + count
    return { from: next, count }
  }

  #write(): void {
    if (this.#file === undefined) return
    const { next, open } = this.#progress
    const now: Progress = { next, open: [...open, ...this.#left], met: this.report.met, ms: this.#passed() }
    const text = JSON.stringify(now)
    writeFileSync(`${this.#file}.new`, `${text}\n`)
    renameSync(`${this.#file}.new`, this.#file)
  }
}

/** Rejects when the process exits without a result. */
function answerOf(worker: ChildProcess, portion: Portion): Promise<Met> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void =>
      reject(new Error(`the process with the seeds from ${portion.from} on ended with ${code}`))
    worker.once('exit', gone)
    worker.once('message', (met: Met) => {
      worker.off('exit', gone)
      resolve(met)
    })
    worker.send(portion)
  })
}
