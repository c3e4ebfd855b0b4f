/** What `bench` does. */
import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checkOut, ENTRY, git, type OtherCheckout } from '#bench/spi'
import { type Against, benchReport, type BenchResult, benchRule, latencyPlot } from '#bench'
import { createRegistry, type Message, type Rule, type Template } from '#core'
import { settingsOf } from '#core/spi'
import { AppError, messageOf } from '#kernel'
import { readBaseline, type BenchOptions } from './bench-options.ts'
import { loadPlugs } from '#host/load-plugs'
import { openPlayback, playbackOf, withHint } from './open-playback.ts'
import { openSource, textOf } from './recording/source.ts'
import { Progress } from './report/progress.ts'
import { readRuleFile, verdict } from './rule-file.ts'
import type { Terminal } from './terminal.ts'

/** What messages without a resource are about when neither the rule nor an option names one. */
const UNNAMED = 'resource-1'

/** Prints the result. 1: the rule or the recording has problems, which are printed; 2: the gate failed. */
export async function runBench(path: string, options: BenchOptions, terminal: Terminal): Promise<0 | 1 | 2> {
  const given = { ...options, resource: options.resource ?? (await fallback(path, options)) }
  const baseline = options.baseline === undefined ? undefined : await baselineOf(options.baseline)
  const opened = await openPlayback([path], given, terminal)
  const [rule] = opened?.rules ?? []
  if (opened === undefined || rule === undefined) return 1
  const messages = await collected(playbackOf(opened, given, terminal).playback.messages ?? [])
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

/** For a recording without resources: undefined when the rule has one, or cannot be looked at twice. */
async function fallback(path: string, { plugs }: BenchOptions): Promise<string | undefined> {
  if (path === '-') return undefined
  const { rule } = await readRuleFile(path, createRegistry(await loadPlugs(plugs)))
  return rule === undefined || settingsOf(rule).resource !== undefined ? undefined : UNNAMED
}

/** The one that was given, the rule's own, or the only one of the recording. */
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

/** The repository that the rule lies in. */
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
