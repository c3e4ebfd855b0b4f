/** `reflexarc bench RULE`: measures a rule over a recording. */
import { PLUGS, type DefineCommand } from './command.ts'
import { withReadingFlags } from './recording/reading-flags.ts'
import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checkOut, ENTRY, git, LISTENS, type OtherCheckout } from '#bench/spi'
import { type Against, benchReport, type BenchResult, benchRule, latencyPlot, type Listen } from '#bench'
import { createRegistry, type Message, type Rule, type Template } from '#core'
import { settingsOf } from '#core/spi'
import { AppError, messageOf } from '#kernel'
import { loadPlugs } from '#host/load-plugs'
import { openPlayback, playbackOf, withHint } from './open-playback.ts'
import { openSource, textOf } from './recording/source.ts'
import { Progress } from './report/progress.ts'
import { readRuleFile, verdict } from './rule-file.ts'
import type { Terminal } from './terminal.ts'
import type { ReadingFlags } from './recording/reading-flags.ts'
import { readOptions, SET, type SimulateFlags, type SimulateOptions } from './simulate-options.ts'

export const define: DefineCommand = (command, start) => {
  withReadingFlags(command)
    .description(
      'Measures how many messages per second a rule processes, also as a share of a loop generated from the same rule, how\n' +
        'late messages are at a fixed rate, and which path they take through the engine. The recording is repeated with its own\n' +
        'timestamps as the time, each sample in a new process. Actuators with outside effects are not called. The exit code is\n' +
        '1 if the rule could not be measured, and 2 if it became slower by more than --fail-over.\n\n' +
        'The command reads the same recordings as simulate.',
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .requiredOption('--messages <file>', 'recording; - is standard input')
    .option(
      '--resource <id>',
      'resource of the task, and of messages without one (default: the resource of the rule, or the only one)',
    )
    .option('--copies <n>', 'number of tasks, each with its own resource and messages', '1')
    .option('--listen <names>', 'subscribers to measure: none, fired, all, why', 'none,fired,why')
    .option('--rate <n>', 'messages per second at which lateness is measured (default: half of the rate of one core)')
    .option('--rounds <n>', 'number of samples; a verdict needs 6', '6')
    .option('--seconds <s>', 'CPU time per sample, after its warm-up', '0.3')
    .option('--baseline <file>', 'compare with the --json output of an earlier run')
    .option(
      '--against <ref>',
      'compare with a commit, branch or tag: its version of the rule, the plugs and, in a checkout of Reflexarc, the engine',
    )
    .option('--fail-over <percent>', 'exit with 2 if a row is more than this slower with certainty, such as 5%')
    .option(...SET)
    .option('--zone <zone>', 'zone of times without an offset', 'UTC')
    .option('--json', 'print all figures as JSON')
    .option('--markdown', 'print the table as Markdown')
    .option('--svg <file>', 'write a plot of the lateness of messages')
    .option('--profile', 'write a CPU profile of each row into the current folder')
    .option(...PLUGS)
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc bench fixtures/rules/overheating.json --messages fixtures/recordings/boiler.csv',
    )
    .action((rule: string, flags: BenchFlags) => start((terminal) => runBench(rule, flags, terminal)))
}

/** Resource for messages that name none, if neither the rule nor an option names one. */
const UNNAMED = 'resource-1'

/** Prints the result. Returns 1 if the rule or the recording has problems, which are printed; 2 if the gate failed. */
export async function runBench(path: string, flags: BenchFlags, terminal: Terminal): Promise<0 | 1 | 2> {
  const options = readBenchOptions(path, flags)
  const complete = { ...options, resource: options.resource ?? (await fallback(path, options)) }
  const baseline = options.baseline === undefined ? undefined : await baselineOf(options.baseline)
  const opened = await openPlayback([path], complete, terminal)
  const [rule] = opened?.rules ?? []
  if (opened === undefined || rule === undefined) return 1
  const messages = await collected(playbackOf(opened, complete, terminal).playback.messages ?? [])
  const other = options.against === undefined ? undefined : checkOutFor(path, options.against)
  const progress = new Progress(terminal.errIsTerminal ? (text) => terminal.err(text) : () => undefined, () =>
    performance.now(),
  )
  try {
    const resource = resourceOf(rule, options, messages)
    const result = await benchRule(rule, {
      name: path === '-' ? 'stdin' : path,
      messages,
      plugs: options.plugs.map((plug) => resolve(plug)),
      variables: options.variables,
      copies: options.copies,
      listen: options.listen,
      rounds: options.rounds,
      seconds: options.seconds,
      ...(resource !== undefined && { resource }),
      ...(options.rate !== undefined && { rate: options.rate }),
      ...(options.failOver !== undefined && { failOver: options.failOver }),
      ...(options.profile && { profile: process.cwd() }),
      ...(baseline !== undefined && { baseline: { name: options.baseline ?? '', lines: baseline.lines } }),
      ...(other !== undefined && { against: await stateThere(path, options, other) }),
      onProgress: (share, what) => progress.show(share, what),
    })
    progress.clear()
    print(result, options, terminal)
    return (result.comparison?.gate?.failed.length ?? 0) > 0 ? 2 : 0
  } catch (error) {
    progress.clear()
    throw withHint(error, '--set name=value')
  } finally {
    other?.remove()
  }
}

function print(result: BenchResult, options: BenchOptions, terminal: Terminal): void {
  if (options.svg !== undefined) writeFileSync(options.svg, latencyPlot(result))
  if (options.json) terminal.out(`${JSON.stringify(result, null, 2)}\n`)
  else terminal.out(benchReport(result, options.markdown ? 'markdown' : 'text'))
  if (options.profile) {
    const names = options.listen.map((name) => `reflexarc-bench-${name}.cpuprofile`)
    terminal.err(`profiles: ${names.join(', ')}\n`)
  }
}

/** undefined if the rule names one or cannot be read twice */
async function fallback(path: string, { plugs }: BenchOptions): Promise<string | undefined> {
  if (path === '-') return undefined
  const { rule } = await readRuleFile(path, createRegistry(await loadPlugs(plugs)))
  return rule === undefined || settingsOf(rule).resource !== undefined ? undefined : UNNAMED
}

function resourceOf(
  rule: Rule | Template,
  { resource }: BenchOptions,
  messages: readonly Message[],
): string | undefined {
  if (resource !== undefined || settingsOf(rule).resource !== undefined) return resource
  const [first, ...more] = new Set(messages.map((message) => message.resource))
  return more.length === 0 ? first : undefined
}

async function collected(messages: Iterable<Message> | AsyncIterable<Message>): Promise<readonly Message[]> {
  const all: Message[] = []
  for await (const message of messages) all.push(message)
  return all
}

async function baselineOf(path: string): Promise<BenchResult> {
  return readBaseline(path, await textOf(await openSource(path)))
}

function checkOutFor(path: string, ref: string): OtherCheckout {
  try {
    const root = git(dirname(resolve(path)), ['rev-parse', '--show-toplevel'])
    const isOwn = ENTRY.endsWith('.ts') && realpathSync(ENTRY).startsWith(`${realpathSync(root)}/`)
    return checkOut(root, ref, isOwn ? ['src/bench'] : [])
  } catch (error) {
    throw new AppError('USAGE', `--against ${ref}: ${messageOf(error).split('\n').at(-1) ?? ''}`, { cause: error })
  }
}

async function stateThere(path: string, options: BenchOptions, other: OtherCheckout): Promise<Against> {
  const name = `${options.against ?? ''} (${other.commit.slice(0, 10)})`
  const plugs = options.plugs.map((plug) => other.there(resolve(plug)))
  const file = await readRuleFile(other.there(resolve(path)), createRegistry(await loadPlugs(plugs)))
  if (file.rule === undefined) throw new AppError('USAGE', `--against ${name}: ${verdict({ ...file, file: path })}`)
  const entry = other.there(ENTRY)
  return { name, rule: file.rule, plugs, ...(existsSync(entry) && { entry }) }
}

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

interface BenchOptions extends SimulateOptions {
  copies: number
  listen: readonly Listen[]
  rate: number | undefined
  rounds: number
  seconds: number
  baseline: string | undefined
  against: string | undefined
  failOver: number | undefined
  markdown: boolean
  svg: string | undefined
  profile: boolean
}

function readBenchOptions(rule: string, flags: BenchFlags): BenchOptions {
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
      : number('--rate', flags.rate, (value) => value >= 1 && value <= 1e7, 'from 1 to 10000000 per second')
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
      `--listen: ${unknown.map((name) => `"${name}"`).join(', ')} is not valid; write ${LISTENS.join(', ')}`,
    )
  if (new Set(listen).size < listen.length) problems.push('--listen: a name is repeated; write each name once')
  if (flags.baseline !== undefined && flags.against !== undefined) problems.push('--baseline and --against: choose one')
  if (flags.failOver !== undefined && flags.baseline === undefined && flags.against === undefined)
    problems.push('--fail-over: nothing to compare with; set --baseline FILE or --against REF')
  if (flags.json === true && flags.markdown === true) problems.push('--json and --markdown: choose one')
  if (flags.against !== undefined && rule === '-')
    problems.push('--against: the rule is standard input; pass a file of the repository')
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

/** Reads the result of an earlier run. Throws `NOT_JSON` and `USAGE`. */
function readBaseline(name: string, text: string): BenchResult {
  let result: unknown
  try {
    result = JSON.parse(text)
  } catch {
    throw new AppError('NOT_JSON', `${name}: invalid JSON; --baseline reads the output of --json`)
  }
  const isResult =
    typeof result === 'object' &&
    result !== null &&
    'format' in result &&
    result.format === 1 &&
    'lines' in result &&
    Array.isArray(result.lines)
  if (!isResult) throw new AppError('USAGE', `${name}: not a result of a bench; --baseline reads the output of --json`)
  return result as BenchResult
}
