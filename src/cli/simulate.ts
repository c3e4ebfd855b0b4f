/** `reflexarc simulate RULE`: runs a rule over a recording in virtual time, and prints what fired and why. */
import { gather, type DefineCommand } from './command.ts'
import { simulate } from '#library'
import type { EngineEvent, Rule, Template } from '#core'
import { openPlayback, playbackOf, withHint, type Opened } from './open-playback.ts'
import { RunRecorder } from './html/run-recorder.ts'
import { HTML, reportOfRun, writeReport } from './html/write-report.ts'
import { RunReport } from './report/run-report.ts'
import {
  readOptions,
  SET,
  type SimulateFlags,
  type SimulateOptions,
  variablesOf,
  withPlaybackFlags,
} from './simulate-options.ts'
import { exitCodeOf, runStored, type StoredFlags, storedOr, withStoredFlags } from './stored.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  withStoredFlags(withPlaybackFlags(command))
    .description(
      'Runs a rule or template over recorded messages in virtual time and prints what fired.\n' +
        'The whole recording is checked before anything runs.\n\n' +
        'A recording is NDJSON (one message per line: resource, timestamp, values) or CSV with a header row and a column\n' +
        'timestamp. A column resource is optional; every other column is a value. The first character determines the format.\n' +
        'A column is numeric if each of its cells is a number such as -12.50, otherwise text (--types overrides this).\n' +
        'Times are ISO 8601, YYYY-MM-DD HH:MM:SS, or epoch milliseconds (--unit names another unit).',
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .option(...SET)
    .option(
      '--latency <name=duration>',
      'delay of the results of a plug or node, such as 200ms, 1.5s or PT1M (repeatable)',
      gather,
      [],
    )
    .option('--down <from..to>', 'downtime of the host; messages of that time are delivered at its end')
    .option('--why', 'print the chain behind each firing: data, sensors, gates, trigger')
    .option('--all', 'print all firings instead of the first and last hundred')
    .option(...HTML)
    .option('--json', 'print one event per line, with the reasons of each firing')
    .option(
      '--model <name=file>',
      'XGBoost booster that predict and classify use under this name (repeatable)',
      gather,
      [],
    )
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc simulate fixtures/rules/overheating.json --messages fixtures/recordings/boiler.csv --resource boiler-1 --why',
    )
    .action((rule: string, flags: SimulateFlags & StoredFlags) =>
      start((terminal) => storedOr(simulateStored, runSimulation)(command, rule, flags, terminal)),
    )
}

async function simulateStored(path: string, flags: SimulateFlags & StoredFlags, terminal: Terminal): Promise<0 | 1> {
  return exitCodeOf(await runStored(path, { variables: variablesOf(flags.set) }, flags, terminal))
}

/** Approximate number of characters per write. */
const PIECE = 1 << 16

interface Job extends Opened {
  rule: Rule | Template
  recorder: RunRecorder | undefined
}

interface RanJob {
  run: Awaited<ReturnType<typeof simulate>>
  wall: number
}

export async function runSimulation(path: string, flags: SimulateFlags, terminal: Terminal): Promise<0 | 1> {
  const options = readOptions(path, flags)
  const opened = await openPlayback([path], options, terminal)
  const [rule] = opened?.rules ?? []
  if (opened === undefined || rule === undefined) return 1
  try {
    const { html, zone, variables } = options
    const recorder = html === undefined ? undefined : new RunRecorder(opened)
    const print = options.json ? printEvents : printReport
    const { run } = await print({ ...opened, rule, recorder }, options, terminal)
    if (html === undefined || recorder === undefined) return 0
    const facts = { opened, recorder, zone, variables, names: { new: path }, messages: run.messages }
    await writeReport(html, reportOfRun(facts), terminal)
  } catch (error) {
    throw withHint(error, '--set name=value')
  }
  return 0
}

/** Prints only events on stdout, one per line; the summary goes to stderr if that is a terminal. */
async function printEvents(job: Job, options: SimulateOptions, terminal: Terminal): Promise<RanJob> {
  const pieces = new Pieces((text) => terminal.out(text))
  const report = terminal.errIsTerminal ? new RunReport(job, options, () => {}, terminal.paint) : undefined
  const ran = await play(job, options, terminal, (event) => {
    pieces.write(`${JSON.stringify(event)}\n`)
    report?.take(event)
  })
  pieces.flush()
  if (report !== undefined) terminal.err(report.summary(ran).join(''))
  return ran
}

async function printReport(job: Job, options: SimulateOptions, terminal: Terminal): Promise<RanJob> {
  const pieces = new Pieces((text) => terminal.out(text))
  const report = new RunReport(job, options, (text) => pieces.write(text), terminal.paint)
  report.begin()
  const ran = await play(job, options, terminal, (event) => report.take(event))
  report.end(ran)
  pieces.flush()
  return ran
}

async function play(
  job: Job,
  options: SimulateOptions,
  terminal: Terminal,
  onEvent: (event: EngineEvent) => void,
): Promise<RanJob> {
  const began = performance.now()
  const { playback, clear } = playbackOf(job, options, terminal)
  const { latency } = options
  const { recorder } = job
  const run = await simulate(job.rule, {
    ...(recorder?.recording(playback) ?? playback),
    latency,
    keep: 'none',
    onEvent: (event) => {
      onEvent(event)
      if (event.type === 'fired') recorder?.fired(event)
    },
  })
  clear()
  return { run, wall: performance.now() - began }
}

/** Joins small texts into larger writes, since a write costs more than its content. */
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
