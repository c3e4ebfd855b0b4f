/** Defines the options of `simulate`, which other commands that play a recording share. */
import type { Command } from 'commander'
import { AppError, durationMs, FORBIDDEN_KEYS } from '#kernel'
import { gather, PLUGS } from './command.ts'
import type { ReadingSettings } from '#formats/recording'
import { readReadingFlags, type ReadingFlags, withReadingFlags } from './recording/reading-flags.ts'
import { ORDER_HELP, playOrderOf, type PlayOrder } from './recording/play-order.ts'
import { readOneTime, spanOf } from './time-option.ts'
import { zoneOf, type Zone } from './zone.ts'

/** Adds the options for the recording. `s`: plural suffix for rules and tasks. */
export function withPlaybackFlags(command: Command, s: '' | 's' = ''): Command {
  return withReadingFlags(command)
    .option('--messages <file>', `recording; - is standard input. Without it, only the clock runs the rule${s}`)
    .option(
      '--resource <id>',
      `resource of the task${s}, and of messages without one (default: the resource of the rule${s})`,
    )
    .option('--from <time>', 'start; earlier messages are omitted (default: the first message)')
    .option('--until <time>', 'end; later messages are omitted (default: the last message)')
    .option('--zone <zone>', 'zone of times without an offset, and of printed times', 'UTC')
    .option('--seed <number>', 'seed of the randomness of plugs (default: 1)')
    .option('--order <order>', `${ORDER_HELP} (default: time; with --stored: lived where inputs are kept)`)
    .option(...PLUGS)
}

export const SET = [
  '--set <name=value>',
  'variable of the task; the value is JSON, otherwise text (repeatable)',
  gather,
  [],
] as const

export interface SimulateFlags extends ReadingFlags {
  messages?: string
  resource?: string
  from?: string
  until?: string
  set: readonly string[]
  latency?: readonly string[]
  seed?: string
  zone: string
  order?: string
  down?: string
  why?: boolean
  all?: boolean
  json?: boolean
  plugs: readonly string[]
  model?: readonly string[]
  html?: string
}

export interface SimulateOptions {
  messages: string | undefined
  resource: string | undefined
  from: number | undefined
  until: number | undefined
  variables: Readonly<Record<string, unknown>>
  /** Latencies in ms, by plug or node */
  latency: Readonly<Record<string, number>>
  seed: number | undefined
  zone: Zone
  order: PlayOrder
  /** Period in which the host is down, epoch ms */
  down: { readonly from: number; readonly until: number } | undefined
  why: boolean
  all: boolean
  json: boolean
  plugs: readonly string[]
  models: readonly string[]
  reading: ReadingSettings
  /** path of the report */
  html: string | undefined
}

export function readOptions(rule: string, flags: SimulateFlags, others: readonly string[] = []): SimulateOptions {
  const problems: string[] = [...others]
  const attempt = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(`${name}: ${error.message}`)
      return undefined
    }
  }
  const zone = attempt('--zone', () => zoneOf(flags.zone)) ?? zoneOf('UTC')
  const from = attempt('--from', () => timeOption(flags.from, zone, 0))
  const until = attempt('--until', () => timeOption(flags.until, zone, -1))
  const seed = attempt('--seed', () => seedOption(flags.seed))
  const variables: Record<string, unknown> = {}
  for (const text of flags.set) attempt('--set', () => addVariable(variables, text))
  const latency: Record<string, number> = {}
  for (const text of flags.latency ?? []) attempt('--latency', () => addLatency(latency, text))
  const reading = readReadingFlags(flags, problems)
  const order = attempt('--order', () => playOrderOf(flags.order ?? 'time')) ?? 'time'
  const down = attempt('--down', () => (flags.down === undefined ? undefined : spanOf(flags.down, zone)))
  if (flags.messages === undefined && flags.until === undefined) {
    problems.push('nothing to run: set --messages FILE, or --until T to run the rule only by the clock')
  }
  if (rule === '-' && flags.messages === '-') problems.push('only one of the rule and --messages can be standard input')
  if (from !== undefined && until !== undefined && until < from) problems.push('--until: the time is before --from')
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  return {
    messages: flags.messages,
    resource: flags.resource,
    from,
    until,
    variables,
    latency,
    seed,
    zone,
    order,
    down: down && { from: down.from, until: down.to },
    why: flags.why ?? false,
    all: flags.all ?? false,
    json: flags.json ?? false,
    plugs: flags.plugs,
    models: flags.model ?? [],
    reading,
    html: flags.html,
  }
}

/** Reads a time; for a repeated clock reading, `index` selects the first (0) or last (-1) instant. */
function timeOption(text: string | undefined, zone: Zone, index: 0 | -1): number | undefined {
  if (text === undefined) return undefined
  return readOneTime(text, zone).at(index)
}

function seedOption(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seed = Number(text)
  if (/^\d+$/.test(text) && seed <= 0xffffffff) return seed
  throw new AppError('USAGE', `"${text}" is not a seed; write a whole number from 0 to 4294967295`)
}

export function variablesOf(texts: readonly string[]): Readonly<Record<string, unknown>> {
  const variables: Record<string, unknown> = {}
  for (const text of texts) addVariable(variables, text)
  return variables
}

function addVariable(variables: Record<string, unknown>, text: string): void {
  const equals = text.indexOf('=')
  const name = text.slice(0, equals).trim()
  if (equals < 1 || name === '')
    throw new AppError('USAGE', `"${text}" is not an assignment; write name=value, such as limit=90`)
  if (FORBIDDEN_KEYS.has(name)) throw new AppError('USAGE', `"${name}" is not a valid variable name`)
  variables[name] = jsonOrText(text.slice(equals + 1))
}

function addLatency(latency: Record<string, number>, text: string): void {
  const [name = '', value = ''] = text.split(/=(.*)/s, 2)
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(value) ?? []
  const ms = number === undefined ? durationOrNaN(value) : Number(number) * (unit === 's' ? 1000 : 1)
  if (name === '' || FORBIDDEN_KEYS.has(name) || !(ms >= 0))
    throw new AppError('USAGE', `"${text}" is not a valid latency; write name=duration, such as callURL=200ms`)
  latency[name] = ms
}

function durationOrNaN(text: string): number {
  try {
    return durationMs(text)
  } catch {
    return Number.NaN
  }
}

/** Parses `90`, `true` or `{"a":1}` as JSON; anything else is text. `"90"` in quotes is the text 90. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
