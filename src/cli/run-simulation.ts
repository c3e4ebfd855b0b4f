/** What `simulate` does. */
import { simulate } from '#library'
import type { EngineEvent, Rule, Template } from '#core'
import { openPlayback, playbackOf, withHint, type Opened } from './open-playback.ts'
import { RunReport } from './report/run-report.ts'
import { readOptions, type SimulateFlags, type SimulateOptions } from './simulate-options.ts'
import type { Terminal } from './terminal.ts'

/** Output is written in pieces of about this many characters. */
const PIECE = 1 << 16

interface Job extends Opened {
  rule: Rule | Template
}

interface RanJob {
  run: Awaited<ReturnType<typeof simulate>>
  /** ms */
  wall: number
}

/** Checks the rule and the whole recording, then runs the one over the other. */
export async function runSimulation(path: string, flags: SimulateFlags, terminal: Terminal): Promise<0 | 1> {
  const options = readOptions(path, flags)
  const opened = await openPlayback([path], options, terminal)
  const [rule] = opened?.rules ?? []
  if (opened === undefined || rule === undefined) return 1
  try {
    if (options.json) await printEvents({ ...opened, rule }, options, terminal)
    else await printReport({ ...opened, rule }, options, terminal)
  } catch (error) {
    throw withHint(error, '--set name=value')
  }
  return 0
}

/** One event a line on stdout and nothing else; the summary goes to stderr when somebody watches it. */
async function printEvents(job: Job, options: SimulateOptions, terminal: Terminal): Promise<void> {
  const pieces = new Pieces((text) => terminal.out(text))
  const report = terminal.errIsTerminal ? new RunReport(job, options, () => {}, terminal.paint) : undefined
  const ran = await play(job, options, terminal, (event) => {
    pieces.write(`${JSON.stringify(event)}\n`)
    report?.take(event)
  })
  pieces.flush()
  if (report !== undefined) terminal.err(report.summary(ran).join(''))
}

async function printReport(job: Job, options: SimulateOptions, terminal: Terminal): Promise<void> {
  const pieces = new Pieces((text) => terminal.out(text))
  const report = new RunReport(job, options, (text) => pieces.write(text), terminal.paint)
  report.begin()
  const ran = await play(job, options, terminal, (event) => report.take(event))
  report.end(ran)
  pieces.flush()
}

/** Runs the job and takes the time. */
async function play(
  job: Job,
  options: SimulateOptions,
  terminal: Terminal,
  onEvent: (event: EngineEvent) => void,
): Promise<RanJob> {
  const began = performance.now()
  const { playback, clear } = playbackOf(job, options, terminal)
  const { latency } = options
  const run = await simulate(job.rule, { ...playback, latency, keep: 'none', onEvent })
  clear()
  return { run, wall: performance.now() - began }
}

/** Gathers small texts, because a write costs more than what it writes. */
class Pieces {
  readonly #out: (text: string) => void
  #text = ''

  constructor(out: (text: string) => void) {
    this.#out = out
  }

  write(text: string): void {
    this.#text += text
    if (this.#text.length >= PIECE) this.flush()
  }

  flush(): void {
    if (this.#text !== '') this.#out(this.#text)
    this.#text = ''
  }
}
