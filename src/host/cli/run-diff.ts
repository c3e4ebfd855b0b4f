/** What `diff` does. */
import { diffRules, type Diff } from '../../index.ts'
import type { DiffOptions } from './diff-options.ts'
import { openPlayback, playbackOf, withHint } from './open-playback.ts'
import { differenceLines, partingLines, verdictLines } from './report/diff-text.ts'
import { recordingText, spanText } from './report/recording-text.ts'
import type { Terminal } from './terminal.ts'

/** Checks everything, runs both rules over the recording, and prints what they do differently. */
export async function runDiff(
  paths: readonly [string, string],
  options: DiffOptions,
  terminal: Terminal,
): Promise<0 | 1 | 2> {
  const opened = await openPlayback(paths, options, terminal)
  const [old, fresh] = opened?.rules ?? []
  if (opened === undefined || old === undefined || fresh === undefined) return 1
  const { playback, clear } = playbackOf(opened, options, terminal)
  let diff: Diff
  try {
    diff = await diffRules(old, fresh, { ...playback, tolerance: options.tolerance })
  } catch (error) {
    clear()
    throw withHint(error, '--set name=value')
  }
  clear()
  if (options.json) terminal.out(`${JSON.stringify(diff, null, 2)}\n`)
  else {
    const { zone, all } = options
    const { paint } = terminal
    const lines = [
      ...partingLines(diff.parted, zone, paint),
      ...differenceLines(diff, { zone, paint, all }),
      ...verdictLines(diff, paint),
    ]
    const head = `${recordingText(opened.recording?.recording)}${spanText(diff.from, diff.until, zone)}`
    terminal.out(`${head}\n${lines.join('\n')}\n`)
  }
  return options.exitCode && !diff.equal ? 2 : 0
}
