/**
 * Runs seeds in several processes, or for hours: each process takes a portion after the other. What they come to is
 * written down as it comes, so that a later call goes on where this one ended, whatever ended it.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { FEW_SEEDS, type Values } from './options.ts'
import type { Portion } from './portion.ts'
import { Report, type Met } from './report.ts'

/** seeds of a portion: what a process that is killed does again */
const PORTION = 25
const PROGRAM = new URL('main.ts', import.meta.url)
/**
 * What V8 is told in these processes. A host that starts and dies leaves much behind that dies with it: where the room
 * for what is young is small, it is moved among what is old first. Code is compiled at once, as most of it runs a few
 * hundred times and no more.
 */
const V8_FLAGS = ['--max-semi-space-size=64', '--single-threaded-gc', '--always-sparkplug']

/** What was done, and what is to be done first. */
interface Progress {
  /** the first seed that nobody took */
  next: number
  /** taken, and not done */
  open: Portion[]
  met: Met
  /** ms that it took */
  ms: number
}

export function isForMany({ hours, workers, report, worker, mutants }: Values): boolean {
  return !worker && !mutants && (hours !== undefined || report !== undefined || Number(workers) > 1)
}

/** Ends with 1 when something was found, now or before. */
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
  /** portions of a call that ended, to be done again */
  readonly #left: Portion[]
  /** ms, with those of the calls before */
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

  /** Has one process run portions, until there are no more. */
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

/** Rejects when the process ends instead. */
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
