/** What `diff` does. */
import type { FiredEvent, Rule, Template } from '#core'
import {
  type Diff,
  type DiffOptions as CompareOptions,
  diffRules,
  diffRuns,
  type PlaybackOptions,
  simulate,
} from '#library'
import type { DiffOptions } from './diff-options.ts'
import { openPlayback, playbackOf, withHint } from './open-playback.ts'
import { readFirings } from './recording/read-firings.ts'
import { differenceLines, partingLines, verdictLines } from './report/diff-text.ts'
import { recordingText, spanText } from './report/recording-text.ts'
import type { Terminal } from './terminal.ts'

/** Checks everything, runs the rules over the recording, and prints what they, or a rule and its earlier firings, do differently. */
export async function runDiff(paths: readonly string[], options: DiffOptions, terminal: Terminal): Promise<0 | 1 | 2> {
  const { firings, tolerance } = options
  const earlier = firings === undefined ? undefined : await readFirings(firings)
  const opened = await openPlayback(paths, options, terminal)
  const [old, fresh] = opened?.rules ?? []
  if (opened === undefined || old === undefined) return 1
  const { playback, clear } = playbackOf(opened, options, terminal)
  let diff: Diff
  try {
    if (earlier !== undefined) diff = await withFirings(old, earlier, { ...playback, tolerance })
    else if (fresh !== undefined) diff = await diffRules(old, fresh, { ...playback, tolerance })
    else return 1
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

/** Runs a rule, and compares what it fires with what was fired before in the same time. */
async function withFirings(
  rule: Rule | Template,
  firings: readonly FiredEvent[],
  { tolerance, ...playback }: PlaybackOptions & CompareOptions,
): Promise<Diff> {
  const run = await simulate(rule, { ...playback, keep: ['fired'] })
  const events = firings.filter(({ time }) => time >= run.from && time <= run.until)
  return diffRuns({ ...run, events }, run, { ...(tolerance !== undefined && { tolerance }) })
}
