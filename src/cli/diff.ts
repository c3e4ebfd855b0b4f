/**
 * `reflexarc diff OLD NEW`: explains the differences between two rules, or from earlier firings, over one recording.
 */
import type { DefineCommand } from './command.ts'
import type { FiredEvent, Rule, Template } from '#core'
import {
  type Diff,
  type DiffOptions as CompareOptions,
  diffRules,
  diffRuns,
  type PlaybackOptions,
  simulate,
} from '#library'
import { AppError, durationMs, isPlainObject } from '#kernel'
import { openPlayback, playbackOf, withHint } from './open-playback.ts'
import { RunRecorder } from './html/run-recorder.ts'
import { HTML, reportOfRun, writeReport } from './html/write-report.ts'
import { differenceLines, partingLines, verdictLines } from './report/diff-text.ts'
import { recordingText, spanText } from './report/recording-text.ts'
import type { Terminal } from './terminal.ts'
import {
  readOptions,
  SET,
  type SimulateFlags,
  type SimulateOptions,
  variablesOf,
  withPlaybackFlags,
} from './simulate-options.ts'
import { exitCodeOf, documentAt, runStored, type StoredFlags, storedOr, withStoredFlags } from './stored.ts'
import { openSource, textOf } from './recording/source.ts'

export const define: DefineCommand = (command, start) => {
  withStoredFlags(withPlaybackFlags(command, 's'))
    .description(
      'Runs two rules or templates over one recording and prints the firings that only one of them has, firings at different\n' +
        'times, and the first input at which the rules differ. The exit code is 0 even if they differ, unless --exit-code is\n' +
        'set. The command reads the same recordings as simulate.\n\n' +
        'With --firings instead of a second rule, it compares the output of an earlier version (simulate --json) with the\n' +
        'firings of this version for the same rule and recording.',
    )
    .argument('<old>', 'rule or template, a JSON file; - is standard input')
    .argument('[new]', 'the other rule, unless --firings is set')
    .option('--firings <file>', 'output of simulate --json; - is standard input')
    .option('--tolerance <duration>', 'firings of one destination up to this far apart count as one that moved', '10m')
    .option('--exit-code', 'exit with 2 if there are differences')
    .option(...SET)
    .option('--all', 'print all differences instead of the first fifty')
    .option(...HTML)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc diff fixtures/rules/overheating.json my-rule.json --messages fixtures/recordings/boiler.csv --resource boiler-1',
    )
    .action((old: string, fresh: string | undefined, flags: DiffFlags & StoredFlags) =>
      start((terminal) => storedOr(diffStored, runDiff)(command, old, fresh, flags, terminal)),
    )
}

async function diffStored(
  old: string,
  fresh: string | undefined,
  flags: DiffFlags & StoredFlags,
  terminal: Terminal,
): Promise<0 | 1 | 2> {
  if (fresh === undefined) throw new AppError('USAGE', '--stored: the second rule is missing; pass two rules')
  const compareWith = { rule: await documentAt(old) }
  const asked = { compareWith, variables: variablesOf(flags.set) }
  const answer = await runStored(fresh, asked, flags, terminal, old)
  const { added = 0, removed = 0, moved = 0 } = answer.comparison?.counts ?? {}
  return flags.exitCode === true && added + removed + moved > 0 ? 2 : exitCodeOf(answer)
}

export async function runDiff(
  first: string,
  second: string | undefined,
  flags: DiffFlags,
  terminal: Terminal,
): Promise<0 | 1 | 2> {
  const options = readDiffOptions(first, second, flags)
  const { firings, tolerance } = options
  const earlier = firings === undefined ? undefined : await readFirings(firings)
  const opened = await openPlayback(second === undefined ? [first] : [first, second], options, terminal)
  const [old, fresh] = opened?.rules ?? []
  if (opened === undefined || old === undefined) return 1
  const { playback: plain, clear } = playbackOf(opened, options, terminal)
  const { html, zone, variables } = options
  const recorder = html === undefined ? undefined : new RunRecorder(opened)
  const onFired = (event: FiredEvent): void => recorder?.fired(event)
  const playback = { ...(recorder?.recording(plain) ?? plain), tolerance, onFired }
  let diff: Diff
  try {
    if (earlier !== undefined) diff = await withFirings(old, earlier, playback)
    else if (fresh !== undefined) diff = await diffRules(old, fresh, playback)
    else return 1
  } catch (error) {
    clear()
    throw withHint(error, '--set name=value')
  }
  clear()
  if (options.json) terminal.out(`${JSON.stringify(diff, null, 2)}\n`)
  else {
    const { all } = options
    const { paint } = terminal
    const lines = [
      ...partingLines(diff.parted, zone, paint),
      ...differenceLines(diff, { zone, paint, all }),
      ...verdictLines(diff, paint),
    ]
    const head = `${recordingText(opened.recording?.recording)}${spanText(diff.from, diff.until, zone)}`
    terminal.out(`${head}\n${lines.join('\n')}\n`)
  }
  if (html !== undefined && recorder !== undefined) {
    const names = { old: second === undefined ? (firings ?? '') : first, new: second ?? first }
    const facts = { opened, recorder, zone, variables, names, messages: diff.messages, diff }
    await writeReport(html, reportOfRun(facts), terminal)
  }
  return options.exitCode && !diff.equal ? 2 : 0
}

/** Runs a rule, and compares its firings with earlier firings from the same period. */
async function withFirings(
  rule: Rule | Template,
  firings: readonly FiredEvent[],
  { tolerance, onFired, ...playback }: PlaybackOptions & CompareOptions,
): Promise<Diff> {
  const run = await simulate(rule, { ...playback, keep: ['fired'] })
  for (const event of run.events) if (event.type === 'fired') onFired?.(event)
  const events = firings.filter(({ time }) => time >= run.from && time <= run.until)
  return diffRuns({ ...run, events }, run, { ...(tolerance !== undefined && { tolerance }) })
}

export interface DiffFlags extends Omit<SimulateFlags, 'why'> {
  tolerance: string
  firings?: string
  exitCode?: boolean
}

interface DiffOptions extends SimulateOptions {
  tolerance: number
  firings: string | undefined
  exitCode: boolean
}

function readDiffOptions(old: string, fresh: string | undefined, flags: DiffFlags): DiffOptions {
  const { firings } = flags
  const problems: string[] = []
  if ((fresh === undefined) === (firings === undefined)) {
    problems.push('nothing to compare with: pass another rule, or --firings FILE with the output of an earlier run')
  }
  const inputs = [old, fresh, firings, flags.messages].filter((path) => path === '-')
  // `readOptions` reports some of these problems itself.
  if (inputs.length > 1 && !(old === '-' && flags.messages === '-'))
    problems.push('only one of the rules, --firings and --messages can be standard input')
  let tolerance = 0
  try {
    tolerance = durationMs(flags.tolerance)
    if (tolerance < 0)
      problems.push(`--tolerance: "${flags.tolerance}" is negative; write a duration such as 10m or PT10M`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    problems.push(`--tolerance: ${error.message}`)
  }
  const options = readOptions(old, flags, problems)
  return { ...options, tolerance, firings, exitCode: flags.exitCode ?? false }
}

/** Sorted by time; other events are ignored. Throws `NOT_FOUND`, and `BAD_RECORDING` with the line. */
async function readFirings(path: string): Promise<readonly FiredEvent[]> {
  const source = await openSource(path)
  const firings: FiredEvent[] = []
  for (const [i, line] of (await textOf(source)).split('\n').entries()) {
    const event = line.trim() === '' ? undefined : eventOf(line, `${source.name}:${i + 1}`)
    if (event !== undefined) firings.push(event)
  }
  return firings.sort((a, b) => a.time - b.time)
}

function eventOf(line: string, location: string): FiredEvent | undefined {
  const event = parsed(line)
  if (!isPlainObject(event) || typeof event['type'] !== 'string') {
    throw wrong(location, 'is not an event', 'use the output of simulate --json, one event per line')
  }
  if (event['type'] !== 'fired') return undefined
  if (isFired(event)) return event
  throw wrong(location, 'is a firing without time, node or source', 'use the unchanged line of simulate --json')
}

function isFired(event: object): event is FiredEvent {
  const { time, node, source } = event as Partial<Record<keyof FiredEvent, unknown>>
  return Number.isFinite(time) && typeof node === 'string' && typeof source === 'string'
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function wrong(location: string, what: string, right: string): AppError {
  return new AppError('BAD_RECORDING', `${location}: the line ${what}; ${right}`)
}
