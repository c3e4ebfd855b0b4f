import { simulate } from '../../index.ts'
import type { EngineEvent } from '../../core/engine/events.ts'
import type { Plug } from '../../core/plug/plug.ts'
import { createRegistry } from '../../core/plug/registry.ts'
import type { Rule, TaskSettings, Template } from '../../core/rule/rule.ts'
import { AppError } from '../../kernel/errors.ts'
import { tinted } from './run-check.ts'
import { loadPlugs } from './load-plugs.ts'
import type { ReadingOptions, RecordedMessage } from './recording/message-taker.ts'
import { checkRecording, describeProblems, describeRepeats, messagesOf, type Recording } from './recording/recording.ts'
import { openSource, type Source } from './recording/source.ts'
import { Progress } from './report/progress.ts'
import { RunReport } from './report/run-report.ts'
import { issueLines, readRuleFile, verdict } from './rule-file.ts'
import type { SimulateOptions } from './simulate-options.ts'
import type { Terminal } from './terminal.ts'
import { formatTime } from './time-text.ts'

/** Output is written in pieces of about this many characters. */
const PIECE = 1 << 16

interface Checked {
  recording: Recording
  source: Source
}

/** What is known when nothing is wrong and the run can begin. */
interface Job {
  rule: Rule | Template
  plugs: readonly Plug[]
  resource: string | undefined
  recording: Checked | undefined
  from: number | undefined
  until: number
}

interface RanJob {
  run: Awaited<ReturnType<typeof simulate>>
  /** ms */
  wall: number
}

/** Checks the rule and the whole recording, then runs the one over the other. */
export async function runSimulation(path: string, options: SimulateOptions, terminal: Terminal): Promise<0 | 1> {
  const plugs = await loadPlugs(options.plugs)
  const file = await readRuleFile(path, createRegistry(plugs))
  const problems = issueLines(file).map((line) => `${tinted(line, terminal)}\n`)
  if (file.rule === undefined) problems.push(`${verdict(file)}\n`)
  const resource = options.resource ?? settingsOf(file.rule)?.resource
  // Of a rule that cannot be read no resource is known, which is not the recording's fault.
  const reading = { zone: options.zone, resource: file.rule === undefined ? (resource ?? '?') : resource }
  const recording = await look(options, reading, problems)
  const repeats =
    recording === undefined || recording === 'bad' ? undefined : describeRepeats(recording.recording, reading)
  if (repeats !== undefined) problems.push(`${tinted(repeats, terminal)}\n`)
  for (const problem of problems) terminal.err(problem)
  if (file.rule === undefined || recording === 'bad') {
    terminal.err('nothing was run\n')
    return 1
  }
  const from = options.from ?? (recording === undefined ? startWithoutMessages(options.until) : undefined)
  const job = {
    rule: file.rule,
    plugs,
    resource: options.resource,
    recording,
    from,
    until: untilOf(options, recording),
  }
  try {
    if (options.json) await printEvents(job, options, reading, terminal)
    else await printReport(job, options, reading, terminal)
  } catch (error) {
    throw withHint(error)
  }
  return 0
}

/** The engine speaks of settings; here they are options. */
function withHint(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  const variable = error.issues.find((issue) => issue.type === 'VARIABLE')
  const hint =
    variable !== undefined
      ? '--set name=value gives a variable its value'
      : error.code === 'RESOLUTION'
        ? '--resource R names the resource of the task, --set name=value a variable'
        : undefined
  if (hint === undefined) return error
  return new AppError(error.code, `${error.message}\n  (${hint})`, { issues: error.issues, cause: error })
}

async function look(
  options: SimulateOptions,
  reading: ReadingOptions,
  problems: string[],
): Promise<Checked | undefined | 'bad'> {
  if (options.messages === undefined) return undefined
  try {
    const source = await openSource(options.messages)
    const recording = await checkRecording(source, reading, options.sort)
    if (recording.problems.length === 0) return { recording, source }
    problems.push(...describeProblems(recording).map((line) => `${line}\n`))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    problems.push(`${error.message}\n`)
  }
  return 'bad'
}

/** One event a line on stdout and nothing else; the summary goes to stderr when somebody watches it. */
async function printEvents(
  job: Job,
  options: SimulateOptions,
  reading: ReadingOptions,
  terminal: Terminal,
): Promise<void> {
  const pieces = new Pieces((text) => terminal.out(text))
  const report = terminal.errIsTerminal ? new RunReport(job, options, () => {}, terminal.paint) : undefined
  const ran = await play(job, options, reading, terminal, (event) => {
    pieces.write(`${JSON.stringify(event)}\n`)
    report?.take(event)
  })
  pieces.flush()
  if (report !== undefined) terminal.err(report.summary(ran).join(''))
}

async function printReport(
  job: Job,
  options: SimulateOptions,
  reading: ReadingOptions,
  terminal: Terminal,
): Promise<void> {
  const pieces = new Pieces((text) => terminal.out(text))
  const report = new RunReport(job, options, (text) => pieces.write(text), terminal.paint)
  report.begin()
  const ran = await play(job, options, reading, terminal, (event) => report.take(event))
  report.end(ran)
  pieces.flush()
}

/** Runs the job and takes the time. */
async function play(
  job: Job,
  options: SimulateOptions,
  reading: ReadingOptions,
  terminal: Terminal,
  onEvent: (event: EngineEvent) => void,
): Promise<RanJob> {
  const began = performance.now()
  const progress = terminal.errIsTerminal
    ? new Progress(
        (text) => terminal.err(text),
        () => performance.now(),
      )
    : undefined
  const total = job.recording?.recording.messages ?? 0
  const start = job.from ?? job.recording?.recording.first ?? 0
  const run = await simulate(job.rule, {
    plugs: job.plugs,
    until: job.until,
    keep: 'none',
    variables: options.variables,
    onEvent,
    ...(progress !== undefined && {
      onProgress({ messages, time }: { messages: number; time: number }) {
        const share = total > 0 ? messages / total : (time - start) / (job.until - start)
        progress.show(share, formatTime(time, options.zone))
      },
    }),
    ...(job.recording !== undefined && { messages: messages(job, job.recording, reading, terminal) }),
    ...(job.from !== undefined && { from: job.from }),
    ...(job.resource !== undefined && { resource: job.resource }),
    ...(options.seed !== undefined && { seed: options.seed }),
  })
  progress?.clear()
  return { run, wall: performance.now() - began }
}

/** The messages between `from` and `until`; they wait for a slow reader of the output and end when it has gone. */
async function* messages(
  { from = Number.NEGATIVE_INFINITY, until }: Job,
  { recording, source }: Checked,
  reading: ReadingOptions,
  terminal: Terminal,
): AsyncGenerator<RecordedMessage> {
  for await (const message of recording.sorted ?? messagesOf(source, reading)) {
    if (terminal.full) await terminal.drained()
    if (message.timestamp > until || terminal.closed) return
    if (message.timestamp >= from) yield message
  }
}

function untilOf({ until, from }: SimulateOptions, checked: Checked | undefined): number {
  if (checked === undefined) return until ?? 0
  const { first, last, name } = checked.recording
  if (until !== undefined && until < first && from === undefined) {
    throw new AppError(
      'USAGE',
      `--until lies before the first message of ${name}; name an earlier --from to run the clock alone`,
    )
  }
  if (from !== undefined && from > last && until === undefined) {
    throw new AppError('USAGE', `--from lies after the last message of ${name}; add --until to run the clock alone`)
  }
  return until ?? last
}

/** The clock alone, with no beginning given: from now on when the end is to come, else from 1970 as the library does. */
function startWithoutMessages(until: number | undefined): number {
  const now = Date.now()
  return until !== undefined && until > now ? now : 0
}

function settingsOf(rule: Rule | Template | undefined): TaskSettings | undefined {
  if (rule === undefined) return undefined
  return 'name' in rule ? rule.taskDefaults : rule.task
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
