/** Prepares a playback from files and options, for every command that plays a recording. */
import { createRegistry, type PlaybackOptions, type Plug, type Rule, type Template } from '#core'
import { settingsOf } from '#core/spi'
import { AppError } from '#kernel'
import { loadPlugs } from '#host/load-plugs'
import type { RecordedMessage } from '#formats/recording'
import {
  checkRecording,
  describeMixed,
  describeProblems,
  describeBack,
  messagesOf,
  type Recording,
  type RecordingOptions,
} from './recording/recording.ts'
import { Arrivals, playTime } from './recording/play-order.ts'
import { openSource, type Source } from './recording/source.ts'
import { Progress } from './report/progress.ts'
import { issueLines, readRuleFile, verdict, type RuleFile } from './rule-file.ts'
import { tinted } from './check.ts'
import type { SimulateOptions } from './simulate-options.ts'
import type { Terminal } from './terminal.ts'
import { formatTime } from './time-text.ts'

interface Checked {
  recording: Recording
  source: Source
}

export type OpenOptions = Pick<
  SimulateOptions,
  'messages' | 'resource' | 'from' | 'until' | 'variables' | 'seed' | 'zone' | 'order' | 'down' | 'plugs' | 'reading'
> &
  Partial<Pick<SimulateOptions, 'models'>>

export interface Opened {
  rules: readonly (Rule | Template)[]
  plugs: readonly Plug[]
  resource: string | undefined
  recording: Checked | undefined
  from: number | undefined
  until: number
}

/** Checks the rules and the whole recording. Prints every problem; returns undefined if one prevents the run. */
export async function openPlayback(
  paths: readonly string[],
  options: OpenOptions,
  terminal: Terminal,
): Promise<Opened | undefined> {
  const { models: modelFiles = [] } = options
  const models = modelFiles.length === 0 ? undefined : await (await import('./load-models.ts')).loadModels(modelFiles)
  const plugs = await loadPlugs(options.plugs, models === undefined ? {} : { models })
  const registry = createRegistry(plugs)
  const files: RuleFile[] = []
  for (const path of paths) files.push(await readRuleFile(path, registry))
  const problems: string[] = []
  for (const file of files) {
    for (const line of issueLines(file)) problems.push(`${tinted(line, terminal)}\n`)
    if (file.rule === undefined) problems.push(`${verdict(file)}\n`)
  }
  const rules = files.flatMap(({ rule }) => rule ?? [])
  const unread = rules.length < files.length
  const resource = options.resource ?? rules.map((rule) => settingsOf(rule)?.resource).find((id) => id !== undefined)
  // The resource of an unreadable rule is unknown, which is not a problem of the recording.
  const reading: RecordingOptions = {
    zone: options.zone,
    resource: unread ? (resource ?? '?') : resource,
    ...options.reading,
  }
  const recording = await look(options, reading, problems)
  const back = recording === undefined || recording === 'bad' ? undefined : describeBack(recording.recording, reading)
  if (back !== undefined) problems.push(`${tinted(back, terminal)}\n`)
  if (recording !== undefined && recording !== 'bad')
    problems.push(...describeMixed(recording.recording).map((line) => `${tinted(line, terminal)}\n`))
  for (const problem of problems) terminal.err(problem)
  if (unread || recording === 'bad') {
    terminal.err('the rule was not run\n')
    return undefined
  }
  const from = options.from ?? (recording === undefined ? startWithoutMessages(options.until) : undefined)
  return { rules, plugs, resource: options.resource, recording, from, until: untilOf(options, recording) }
}

export function playbackOf(
  opened: Opened,
  options: OpenOptions,
  terminal: Terminal,
): { playback: PlaybackOptions; clear(): void } {
  const { recording, from, until, resource, plugs } = opened
  const progress = terminal.errIsTerminal
    ? new Progress(
        (text) => terminal.err(text),
        () => performance.now(),
      )
    : undefined
  const total = recording?.recording.messages ?? 0
  const start = from ?? recording?.recording.first ?? 0
  const playback: PlaybackOptions = {
    plugs,
    until,
    variables: options.variables,
    ...(progress !== undefined && {
      onProgress({ messages, time }: { messages: number; time: number }) {
        const share = total > 0 ? messages / total : (time - start) / (until - start)
        progress.show(share, formatTime(time, options.zone))
      },
    }),
    ...(recording !== undefined && messagesWithin(opened, recording, terminal)),
    ...(options.down && { down: options.down }),
    ...(from !== undefined && { from }),
    ...(resource !== undefined && { resource }),
    ...(options.seed !== undefined && { seed: options.seed }),
  }
  return { playback, clear: () => progress?.clear() }
}

/** Adds a hint about the option that corresponds to a setting of the engine. */
export function withHint(error: unknown, variables: string): unknown {
  if (!(error instanceof AppError)) return error
  const variable = error.issues.find((issue) => issue.type === 'VARIABLE')
  const hint =
    variable !== undefined
      ? `${variables} sets the value of a variable`
      : error.code === 'RESOLUTION'
        ? `--resource R names the resource of the task, ${variables} a variable`
        : undefined
  if (hint === undefined) return error
  return new AppError(error.code, `${error.message}\n  (${hint})`, { issues: error.issues, cause: error })
}

async function look(
  options: OpenOptions,
  reading: RecordingOptions,
  problems: string[],
): Promise<Checked | undefined | 'bad'> {
  if (options.messages === undefined) return undefined
  try {
    const source = await openSource(options.messages)
    const recording = await checkRecording(source, reading, options.order)
    if (recording.problems.length === 0) return { recording, source }
    problems.push(...describeProblems(recording).map((line) => `${line}\n`))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    problems.push(`${error.message}\n`)
  }
  return 'bad'
}

/** Reading waits while the output's reader is slow, and ends with that reader. */
function messagesWithin(
  { from = Number.NEGATIVE_INFINITY, until }: Opened,
  { recording, source }: Checked,
  terminal: Terminal,
): Pick<PlaybackOptions, 'messages' | 'arrivalOf'> {
  const { order } = recording
  const arrivals = new Arrivals()
  async function* within(): AsyncGenerator<RecordedMessage> {
    for await (const message of messagesOf(source, recording)) {
      if (terminal.full) await terminal.drained()
      const time = playTime(message, order) ?? message.timestamp
      if (time > until || terminal.closed) return
      if (time >= from) yield order === 'lived' ? arrivals.without(message) : message
    }
  }
  return { messages: within(), ...(order === 'lived' && { arrivalOf: (message) => arrivals.of(message) }) }
}

function untilOf({ until, from }: OpenOptions, checked: Checked | undefined): number {
  if (checked === undefined) return until ?? 0
  const { first, last, name } = checked.recording
  if (until !== undefined && until < first && from === undefined) {
    throw new AppError(
      'USAGE',
      `--until is before the first message of ${name}; set an earlier --from to run only the clock`,
    )
  }
  if (from !== undefined && from > last && until === undefined) {
    throw new AppError('USAGE', `--from is after the last message of ${name}; set --until to run only the clock`)
  }
  return until ?? last
}

/** Returns the start of a run without messages: now if the end is in the future, otherwise 1970, as in the library. */
function startWithoutMessages(until: number | undefined): number {
  const now = Date.now()
  return until !== undefined && until > now ? now : 0
}
