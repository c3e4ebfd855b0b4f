/** What `sweep` does. */
import { sweep, type Sweep } from '#library'
import { AppError, describeIssue } from '#kernel'
import { openPlayback, playbackOf, withHint, type Opened } from './open-playback.ts'
import { recordingText, spanText } from './report/recording-text.ts'
import { sweepLines } from './report/sweep-table.ts'
import type { SweepOptions } from './sweep-options.ts'
import type { Terminal } from './terminal.ts'

/** Checks everything, runs the rule with every value over the recording, and prints what fired. */
export async function runSweep(path: string, options: SweepOptions, terminal: Terminal): Promise<0 | 1> {
  const opened = await openPlayback([path], options, terminal)
  const [rule] = opened?.rules ?? []
  if (opened === undefined || rule === undefined) return 1
  const began = performance.now()
  const { playback, clear } = playbackOf(opened, options, terminal)
  let result: Sweep
  try {
    result = await sweep(rule, { ...playback, set: options.grid })
  } catch (error) {
    clear()
    throw withHint(aboutFlags(error), '--set name=value')
  }
  clear()
  if (options.json) terminal.out(`${JSON.stringify(result, null, 2)}\n`)
  else terminal.out(reportOf(result, opened, options, terminal, performance.now() - began))
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

/** The library speaks of its `set`; here that is a flag. */
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
