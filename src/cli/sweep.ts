/** `reflexarc sweep RULE --set node.property=70..90/5`: counts how often a rule fires with each of several values. */
import { gather, type DefineCommand } from './command.ts'
import { sweep, type Sweep } from '#library'
import { AppError, describeIssue, FORBIDDEN_KEYS } from '#kernel'
import { sweepValues } from '#core/spi'
import { type Opened, openPlayback, playbackOf, withHint } from './open-playback.ts'
import { RunRecorder } from './html/run-recorder.ts'
import { HTML, reportOfRun, writeReport } from './html/write-report.ts'
import { recordingText, spanText } from './report/recording-text.ts'
import type { Terminal, Paint } from './terminal.ts'
import { exitCodeOf, runStored, type StoredFlags, storedOr, withStoredFlags } from './stored.ts'
import { readOptions, type SimulateFlags, type SimulateOptions, withPlaybackFlags } from './simulate-options.ts'
import { counted, grouped } from './numbers.ts'
import { formatSpan } from './time-text.ts'
import { visible } from './visible.ts'
import { tableLines } from './report/table.ts'

export const define: DefineCommand = (command, start) => {
  withStoredFlags(withPlaybackFlags(command))
    .description(
      'Runs a rule or template once for each value of a property, in one pass over the recording, and prints the\n' +
        'firings of each destination, in total and per day. Several --set run all combinations, at most 1,000.\n\n' +
        '--set accepts node.property; evictionTime, pollingPeriod and timeout of a node; node.invocationPolicy (the\n' +
        'seconds of all triggers into it); and the name of a variable. The command reads the same recordings as simulate.',
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .option('--set <path=values>', 'values: a range 70..90/5, a list 70,75,90, or one value (repeatable)', gather, [])
    .option(...HTML)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc sweep fixtures/rules/overheating.json --set temperature.threshold=85..100/5 --messages fixtures/recordings/boiler.csv --resource boiler-1',
    )
    .action((rule: string, flags: SweepFlags & StoredFlags) =>
      start((terminal) => storedOr(sweepStored, runSweep)(command, rule, flags, terminal)),
    )
}

async function sweepStored(path: string, flags: SweepFlags & StoredFlags, terminal: Terminal): Promise<0 | 1> {
  return exitCodeOf(await runStored(path, { sweep: gridOf(flags.set) }, flags, terminal))
}

export async function runSweep(path: string, flags: SweepFlags, terminal: Terminal): Promise<0 | 1> {
  const options = readSweepOptions(path, flags)
  const opened = await openPlayback([path], options, terminal)
  const [rule] = opened?.rules ?? []
  if (opened === undefined || rule === undefined) return 1
  const began = performance.now()
  const { playback, clear } = playbackOf(opened, options, terminal)
  const { html, zone, variables } = options
  const recorder = html === undefined ? undefined : new RunRecorder(opened)
  let result: Sweep
  try {
    result = await sweep(rule, { ...(recorder?.recording(playback) ?? playback), set: options.grid })
  } catch (error) {
    clear()
    throw withHint(aboutFlags(error), '--set name=value')
  }
  clear()
  if (options.json) terminal.out(`${JSON.stringify(result, null, 2)}\n`)
  else terminal.out(reportOf(result, opened, options, terminal, performance.now() - began))
  if (html !== undefined && recorder !== undefined) {
    const { messages } = result
    const facts = { opened, recorder, zone, variables, names: { new: path }, messages, sweep: result }
    await writeReport(html, reportOfRun(facts), terminal)
  }
  return 0
}

function reportOf(
  result: Sweep,
  { recording }: Opened,
  { zone }: SweepOptions,
  { paint }: Terminal,
  wall: number,
): string {
  const head = `${recordingText(recording?.recording)}${spanText(result.from, result.until, zone)}`
  return `${head}\n${sweepLines(result, wall, paint).join('\n')}\n`
}

/** Rewords errors about the library's `set`, which is a flag here. */
function aboutFlags(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code === 'TOO_LARGE') return new AppError('USAGE', `--set: ${error.message}`, { cause: error })
  if (!error.issues.some(({ type }) => type === 'SWEEP') && !error.message.startsWith('the sweep ')) return error
  const lines = error.issues.map((issue) => {
    if (!issue.path.startsWith('/set/')) return `--set: ${describeIssue(issue)}`
    const hint = issue.suggestion === undefined ? '' : `; ${issue.suggestion}`
    return `--set ${issue.path.slice('/set/'.length)}: ${issue.message}${hint}`
  })
  return new AppError('USAGE', lines.join('\nerror: '), { issues: error.issues, cause: error })
}

/** Flags of `simulate`, except that `--set` lists values that change from run to run. */
export type SweepFlags = Omit<SimulateFlags, 'why' | 'all'>

interface SweepOptions extends SimulateOptions {
  grid: Readonly<Record<string, readonly unknown[]>>
}

function readSweepOptions(rule: string, flags: SweepFlags): SweepOptions {
  const problems: string[] = []
  const grid = readGrid(flags.set, problems)
  const options = readOptions(rule, { ...flags, set: [] }, problems)
  return { ...options, grid }
}

function gridOf(texts: readonly string[]): Readonly<Record<string, readonly unknown[]>> {
  const problems: string[] = []
  const grid = readGrid(texts, problems)
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  return grid
}

function readGrid(texts: readonly string[], problems: string[]): Readonly<Record<string, readonly unknown[]>> {
  const grid = new Map<string, readonly unknown[]>()
  for (const text of texts) {
    const equals = text.indexOf('=')
    const path = text.slice(0, equals).trim()
    if (equals < 1 || path === '') {
      problems.push(
        `--set: "${text}" is not an assignment; write node.property=70..90/5, or name=70,75,90 for a variable`,
      )
    } else if (FORBIDDEN_KEYS.has(path)) {
      problems.push(`--set: "${path}" is not a valid name; write node.property=70..90/5`)
    } else if (grid.has(path)) {
      problems.push(`--set: ${path} is set twice; write its values as one list such as ${path}=70,75,90`)
    } else {
      try {
        grid.set(path, sweepValues(text.slice(equals + 1)))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        problems.push(`--set ${path}: ${error.message}`)
      }
    }
  }
  if (texts.length === 0) problems.push('nothing to sweep: set --set node.property=70..90/5')
  return Object.fromEntries(grid)
}

function sweepLines(sweep: Sweep, wall: number, paint: Paint): string[] {
  const { parameters, destinations, rows, messages, late } = sweep
  const failed = rows.some(({ errors }) => errors > 0)
  const header = [...parameters, ...destinations.flatMap((node) => [node, 'per day']), ...(failed ? ['errors'] : [])]
  const cells = rows.map(({ values, fired, perDay, errors }) => [
    ...parameters.map((path) => textOf(values[path])),
    ...destinations.flatMap((node) => [grouped(fired[node] ?? 0), rate(perDay[node] ?? null)]),
    ...(failed ? [errors === 0 ? '-' : grouped(errors)] : []),
  ])
  const [head = '', ...lines] = tableLines([header, ...cells], new Set(header.keys()))
  const work = `${counted(rows.length, 'run')} in one pass over ${counted(messages, 'message')} in ${formatSpan(wall)}`
  const report = [paint('underline', head), ...lines, '', paint('bold', work)]
  if (destinations.length === 0) report.push('without triggers, no node can fire')
  if (late > 0) report.push(`${counted(late, 'message')} had a timestamp before the time of the clock`)
  return report
}

function textOf(value: unknown): string {
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}

function rate(perDay: number | null): string {
  if (perDay === null) return '-'
  if (perDay >= 100) return grouped(Math.round(perDay))
  return perDay.toFixed(perDay >= 10 ? 1 : 2)
}
