/** Reads the options of `bench`. */
import { LISTENS } from '#bench/spi'
import type { BenchResult, Listen } from '#bench'
import { AppError } from '#kernel'
import type { ReadingFlags } from './recording/reading-flags.ts'
import { readOptions, type SimulateFlags, type SimulateOptions } from './simulate-options.ts'

/** Options as the command line gives them. */
export type BenchFlags = Pick<
  SimulateFlags,
  'messages' | 'resource' | 'set' | 'zone' | 'json' | 'plugs' | keyof ReadingFlags
> & {
  copies: string
  listen: string
  rate?: string
  rounds: string
  seconds: string
  baseline?: string
  against?: string
  failOver?: string
  markdown?: boolean
  svg?: string
  profile?: boolean
}

/** The same, read. */
export interface BenchOptions extends SimulateOptions {
  copies: number
  listen: readonly Listen[]
  rate: number | undefined
  rounds: number
  seconds: number
  baseline: string | undefined
  against: string | undefined
  /** a share */
  failOver: number | undefined
  markdown: boolean
  svg: string | undefined
  profile: boolean
}

/** Reads all options and reports all that is wrong with them at once. Throws `USAGE`. */
export function readBenchOptions(rule: string, flags: BenchFlags): BenchOptions {
  const problems: string[] = []
  const number = (name: string, text: string, isGood: (value: number) => boolean, wanted: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (!isGood(value)) problems.push(`${name}: "${text}" is not ${wanted}`)
    return value
  }
  const whole = (name: string, text: string, most: number) =>
    number(
      name,
      text,
      (value) => Number.isInteger(value) && value >= 1 && value <= most,
      `a whole number from 1 to ${most}`,
    )
  const copies = whole('--copies', flags.copies, 100_000)
  const rounds = whole('--rounds', flags.rounds, 1000)
  const seconds = number('--seconds', flags.seconds, (value) => value > 0 && value <= 60, 'above 0 and at most 60')
  const rate =
    flags.rate === undefined
      ? undefined
      : number('--rate', flags.rate, (value) => value >= 1 && value <= 1e7, 'from 1 to 10000000 a second')
  const percent =
    flags.failOver === undefined
      ? undefined
      : number(
          '--fail-over',
          flags.failOver.replace(/\s*%$/, ''),
          (value) => value >= 0 && value < 100,
          'a percentage from 0 to 100, such as 5%',
        )
  const listen = flags.listen.split(',').map((name) => name.trim())
  const unknown = listen.filter((name) => !LISTENS.some((known) => known === name))
  if (unknown.length > 0)
    problems.push(
      `--listen: there is no ${unknown.map((name) => `"${name}"`).join(', ')}; there are ${LISTENS.join(', ')}`,
    )
  if (new Set(listen).size < listen.length) problems.push('--listen: it has one of its names twice')
  if (flags.baseline !== undefined && flags.against !== undefined) problems.push('--baseline and --against: choose one')
  if (flags.failOver !== undefined && flags.baseline === undefined && flags.against === undefined)
    problems.push('--fail-over: there is nothing to compare with; give --baseline FILE or --against REF')
  if (flags.json === true && flags.markdown === true) problems.push('--json and --markdown: choose one')
  if (flags.against !== undefined && rule === '-')
    problems.push('--against: the rule must be a file, of which there is an earlier state')
  const options = readOptions(rule, flags, problems)
  return {
    ...options,
    copies,
    listen: listen as Listen[],
    rate,
    rounds,
    seconds,
    baseline: flags.baseline,
    against: flags.against,
    failOver: percent === undefined ? undefined : percent / 100,
    markdown: flags.markdown ?? false,
    svg: flags.svg,
    profile: flags.profile ?? false,
  }
}

/** An earlier result. Throws `NOT_JSON` and `USAGE`. */
export function readBaseline(name: string, text: string): BenchResult {
  let result: unknown
  try {
    result = JSON.parse(text)
  } catch {
    throw new AppError('NOT_JSON', `${name}: it is not JSON; --baseline takes what --json printed`)
  }
  const isResult =
    typeof result === 'object' &&
    result !== null &&
    'format' in result &&
    result.format === 1 &&
    'lines' in result &&
    Array.isArray(result.lines)
  if (!isResult)
    throw new AppError('USAGE', `${name}: it is no result of a bench; --baseline takes what --json printed`)
  return result as BenchResult
}
