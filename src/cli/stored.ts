/** `--stored`: rehearses a rule on a host's stored data, instead of running it here over a recording. */
import type { Command } from 'commander'
import type { Client } from '#client'
import type { Rule, Template } from '#core'
import { causeOf } from '#core/sentences'
import { AppError, isPlainObject } from '#kernel'
import type { Rehearsal, RehearsalRequest, RehearsedDifference } from '#services/rules/contract'
import { connect, type ConnectFlags } from './functions/connect.ts'
import { COLUMNS, type PlotPoint, PlotPoints } from './html/plot-points.ts'
import { metricsToPlot, resourcesToPlot, sweptThresholds } from './html/plotted.ts'
import { type FoundDifference, type Report, reportedFirings } from './html/report.ts'
import { thresholdsOf } from './html/thresholds.ts'
import { figuresOfDiff, textOf, writeReport } from './html/write-report.ts'
import { counted, grouped } from './numbers.ts'
import { textAt } from './recording/source.ts'
import { spanText } from './report/recording-text.ts'
import { nameOfRule } from './report/run-report.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'
import { formatTime } from './time-text.ts'
import { visible } from './visible.ts'
import { type Zone, zoneOf } from './zone.ts'

export function withStoredFlags(command: Command): Command {
  return command
    .option('--stored', 'rehearse on the stored data of a host; --from may then be an age such as -30d')
    .option('--type <id>', 'with --stored: rehearse for all resources of this type')
    .option('--query <query>', 'with --stored: rehearse for all resources that match')
    .option('--url <address>', 'address of the host (REFLEXARC_URL, default http://127.0.0.1:8080)')
    .option('--key <key>', 'API key (REFLEXARC_API_KEY)')
    .option('--secret <secret>', 'secret of the key; safer in the environment (REFLEXARC_API_SECRET)')
    .option('--token <token>', 'bearer token, instead of key and secret (REFLEXARC_TOKEN)')
}

export interface StoredFlags extends ConnectFlags {
  stored?: boolean
  type?: string
  query?: string
  resource?: string
  messages?: string
  from?: string
  until?: string
  seed?: string
  zone: string
  order?: string
  html?: string
}

/** Names of the options that apply to stored data; the host decides what the others would. */
const APPLICABLE: ReadonlySet<string> = new Set(
  'stored type query url key secret token resource messages from until seed zone order set html json exitCode'.split(
    ' ',
  ),
)
const ORDERS: readonly string[] = ['lived', 'time'] satisfies RehearsalRequest['order'][]

/** Runs `stored` for `--stored`, after rejecting options that it would ignore, and otherwise `played`. */
export function storedOr<Args extends readonly unknown[]>(
  stored: (...args: Args) => Promise<0 | 1 | 2>,
  played: (...args: Args) => Promise<0 | 1 | 2>,
): (command: Command, ...args: Args) => Promise<0 | 1 | 2> {
  return (command, ...args) => {
    if (command.opts<StoredFlags>().stored !== true) return played(...args)
    const ignored = command.options.filter((option) => {
      const name = option.attributeName()
      return command.getOptionValueSource(name) === 'cli' && !APPLICABLE.has(name)
    })
    if (ignored.length === 0) return stored(...args)
    const names = ignored.map(({ long }) => long).join(', ')
    const them = ignored.length === 1 ? 'it' : 'them'
    throw new AppError(
      'USAGE',
      `${names}: not available with --stored; omit ${them}, or run over a file with --messages`,
    )
  }
}

type Asked = Pick<RehearsalRequest, 'compareWith' | 'sweep' | 'variables'>

const POLL_MS = 200

/** Prints the host's result, and returns it. `other`: path of the rule to compare with, for the report. */
export async function runStored(
  path: string,
  asked: Asked,
  flags: StoredFlags,
  terminal: Terminal,
  other?: string,
): Promise<Rehearsal> {
  const zone = zoneOf(flags.zone)
  const request = { ...requestOf(flags), ...asked, rule: await documentAt(path) }
  const { broker, rules } = connect(flags, process.env)
  const answer = await finishedRehearsal(rules, request)
  terminal.out(flags.json === true ? `${JSON.stringify(answer, null, 2)}\n` : `${linesOf(answer, zone).join('\n')}\n`)
  const { html } = flags
  if (html !== undefined) {
    const { rule, variables = {} } = request
    const names = { new: path, ...(other !== undefined && { old: other }) }
    const run = { answer, rule, other: asked.compareWith?.rule, variables, names, zone }
    const report = await reportOfRehearsal(run, broker.series)
    if (report !== undefined) await writeReport(html, report, terminal)
  }
  return answer
}

/** Returns 1 if the rehearsal failed. */
export function exitCodeOf({ status }: Rehearsal): 0 | 1 {
  return status === 'done' ? 0 : 1
}

export async function finishedRehearsal(
  { rehearsals }: Client['rules'],
  request: RehearsalRequest,
): Promise<Rehearsal> {
  const { id } = await rehearsals.run(request)
  let answer = await rehearsals.get(id)
  while (answer.status === 'running') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    answer = await rehearsals.get(id)
  }
  return answer
}

export async function documentAt(path: string): Promise<NonNullable<RehearsalRequest['rule']>> {
  const text = await textAt(path)
  try {
    const document: unknown = JSON.parse(text)
    if (isPlainObject(document)) return document
  } catch {
    // reported by the error below
  }
  throw new AppError('NOT_JSON', `${path}: the file is not a JSON object; write a rule or template`)
}

function requestOf(flags: StoredFlags): RehearsalRequest {
  const { type, query, resource, messages, from, until, seed, order } = flags
  const problems: string[] = []
  if (messages !== undefined) problems.push('--messages and --stored: choose one')
  if (resource !== undefined && (type !== undefined || query !== undefined))
    problems.push('--resource, --type and --query: choose one')
  if (seed !== undefined && !/^\d+$/.test(seed)) problems.push(`--seed: "${seed}" is not a whole number`)
  if (order !== undefined && !ORDERS.includes(order))
    problems.push(`--order: "${order}" does not apply to stored data; use ${ORDERS.join(' or ')}`)
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  const selected = {
    ...(type !== undefined && { resourceTypeId: type }),
    ...(query !== undefined && { query }),
  }
  const resources = resource === undefined ? selected : [resource]
  return {
    ...((type ?? query ?? resource) !== undefined && { resources }),
    source: { ...(from !== undefined && { from }), ...(until !== undefined && { until }) },
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(order !== undefined && { order: order as NonNullable<RehearsalRequest['order']> }),
  }
}

function linesOf(answer: Rehearsal, zone: Zone): readonly string[] {
  const { status, error, coverage, counts, firings = [], alarms, comparison, sweep, truncated = false } = answer
  if (coverage === undefined || counts === undefined) return [`the rehearsal is ${status}${error ? `: ${error}` : ''}`]
  const { summary, messages, from, until, missingMetrics } = coverage
  const newest = newestLines(coverage, zone)
  const lines = [
    `${summary}: ${counted(messages, 'message')} from ${formatTime(from, zone)} until ${formatTime(until, zone)}`,
    ...(newest.length > 0 ? newest : missingMetrics.map((name) => `no resource has the metric ${visible(name)}`)),
    '',
  ]
  const head = `${counted(counts.firings, 'firing')}, ${counted(alarms?.raised ?? 0, 'alarm')} raised, ${alarms?.cleared ?? 0} cleared`
  if (sweep !== undefined) return [...lines, ...sweepTable(sweep)]
  if (comparison !== undefined) {
    const { added, removed, moved, counts: of } = comparison
    const all = [
      ...added.map((one) => ({ ...one, sign: '+' })),
      ...removed.map((one) => ({ ...one, sign: '-' })),
      ...moved.map((one) => ({ ...one, sign: '~' })),
    ].toSorted((a, b) => a.time - b.time)
    const rows = all.map(({ sign, time, resource, node }) => [sign, formatTime(time, zone), resource ?? '', node])
    const totals = `${of.equal} equal, ${of.added} added, ${of.removed} removed, ${of.moved} moved`
    return [...lines, ...tableLines(rows.map((row) => row.map(visible))), totals]
  }
  const rows = firings.map((firing) => [
    formatTime(firing.time, zone),
    firing.resource ?? '',
    firing.node,
    causeOf(firing),
  ])
  const more = truncated ? [`the whole result is at /api/rehearsals/${answer.id}`] : []
  return [...lines, ...tableLines(rows.map((row) => row.map(visible))), head, ...loadLines(alarms), ...more]
}

/** Returns what the raised alarms would mean for an operator. */
function loadLines(alarms: Rehearsal['alarms']): readonly string[] {
  if (alarms?.figures === undefined || alarms.raised === 0) return []
  const { peak, flood, chattering } = alarms.figures
  const load = `at most ${counted(peak.alarms, 'alarm')} in 10 minutes, ${counted(flood.count, 'flood')}`
  return [chattering.count === 0 ? load : `${load}, ${chattering.count} chattering`]
}

/** Returns when the resources had data, if none has data in the range. */
function newestLines({ items, resources }: NonNullable<Rehearsal['coverage']>, zone: Zone): readonly string[] {
  const known = items.flatMap(({ resource, newest }) => (newest === undefined ? [] : [{ resource, newest }]))
  const [latest] = known.toSorted((a, b) => b.newest - a.newest)
  if (resources.withData > 0 || latest === undefined) return []
  const name = visible(latest.resource ?? '')
  return [`the newest data of ${name} is of ${formatTime(latest.newest, zone)}; set --from to an earlier time`]
}

function sweepTable(sweep: NonNullable<Rehearsal['sweep']>): readonly string[] {
  const paths = Object.keys(sweep[0]?.values ?? {})
  const rows = sweep.map(({ values, firings, perDay, issue }) => [
    ...paths.map((path) => JSON.stringify(values[path])),
    String(firings),
    perDay === null ? '-' : perDay.toFixed(2),
    issue?.message ?? '',
  ])
  return tableLines([[...paths, 'firings', 'per day', ''], ...rows].map((row) => row.map(visible)))
}

/** Reports a rehearsal on the stored data of a host, with the data that it used. */
interface StoredRun {
  readonly answer: Rehearsal
  readonly rule: Rule | Template
  readonly other: Rule | Template | undefined
  readonly variables: Readonly<Record<string, unknown>>
  readonly names: Report['names']
  readonly zone: Zone
}

/** Returns undefined for a rehearsal without a result. */
export async function reportOfRehearsal(
  run: StoredRun,
  series: Client['broker']['series'],
): Promise<Report | undefined> {
  const { answer, rule, other, variables, names, zone } = run
  const { coverage, counts, firings = [], alarms, comparison, sweep } = answer
  if (coverage === undefined || counts === undefined) return undefined
  const { from, until, summary, messages, missingMetrics } = coverage
  const differences = comparison && differencesOf(comparison)
  const fired = new Set([...firings, ...(differences ?? [])].flatMap(({ resource }) => resource ?? []))
  const withData = coverage.items.filter((item) => item.messages > 0)
  const shown = resourcesToPlot(
    withData.flatMap(({ resource }) => resource ?? []),
    fired,
  )
  const resources = await Promise.all(
    shown.map(async (resource) => {
      const item = withData.find((one) => one.resource === resource)
      const names = metricsToPlot(Object.keys(item?.metrics ?? {}), rule)
      const metrics = names.map(async (name) => ({
        name,
        points: await pointsOf(series, { resource, name, from, until }),
      }))
      const all = await Promise.all(metrics)
      return { resource, metrics: all.filter(({ points }) => points.length > 0), gaps: item?.gaps ?? [] }
    }),
  )
  const plain = firings.map((firing) => ({ ...firing, resource: firing.resource ?? undefined }))
  const limits = sweptThresholds(thresholdsOf(rule, variables), sweep?.map(({ values }) => values) ?? [])
  return {
    title: nameOfRule(rule),
    facts: [
      summary,
      spanText(from, until, zone),
      ...missingMetrics.map((name) => `no resource has the metric ${name}`),
    ],
    figures: [
      ['messages', grouped(messages)],
      ...(comparison ? figuresOfDiff(comparison.counts) : [['firings', grouped(counts.firings)] as const]),
      ['alarms raised', grouped(alarms?.raised ?? 0)],
      ['alarms cleared', grouped(alarms?.cleared ?? 0)],
    ],
    names,
    zone,
    from,
    until,
    resources,
    moreResources: coverage.resources.withData - resources.length,
    thresholds: [
      ...(other ? thresholdsOf(other) : []).map((limit) => ({ ...limit, version: 'old' as const })),
      ...limits.map((limit) => ({ ...limit, version: 'new' as const })),
    ],
    firings: reportedFirings(plain, differences, answer.truncated !== true, zone),
    moreFirings: counts.firings - firings.length,
    ...(sweep && {
      sweep: {
        parameters: Object.keys(sweep[0]?.values ?? {}),
        rows: sweep.map(({ values, firings: count, perDay, issue }) => ({
          values: Object.values(values).map(textOf),
          firings: count,
          perDay,
          ...(issue && { issue: issue.message }),
        })),
      },
    }),
  }
}

function differencesOf({ added, removed, moved }: NonNullable<Rehearsal['comparison']>): readonly FoundDifference[] {
  return [...added, ...removed, ...moved]
    .toSorted((a, b) => a.time - b.time)
    .flatMap(({ resource: of, ...found }) => foundDifference(found, of ?? undefined))
}

function foundDifference(
  { time, node, by, firing, other }: Omit<RehearsedDifference, 'resource'>,
  resource: string | undefined,
): readonly FoundDifference[] {
  const about = { time, node, resource }
  if (firing !== undefined && other !== undefined)
    return [{ kind: 'moved', ...about, by: by ?? 0, new: firing, old: other }]
  if (firing !== undefined) return [{ kind: 'onlyNew', ...about, new: firing }]
  return other === undefined ? [] : [{ kind: 'onlyOld', ...about, old: other }]
}

interface PlottedSeries {
  readonly resource: string
  readonly name: string
  readonly from: number
  readonly until: number
}

/** Returns the extremes of each pixel column; none for a series without numbers. */
async function pointsOf(
  series: Client['broker']['series'],
  { resource, name, from, until }: PlottedSeries,
): Promise<readonly PlotPoint[]> {
  const seconds = Math.max(1, Math.ceil((until - from) / COLUMNS / 1_000))
  const points = new PlotPoints(from, until)
  const query = { from, until: until + 1, grouping: `PT${seconds}S`, aggregates: 'min,max', limit: 2 * COLUMNS }
  const answer = await series.get(resource, name, query).catch((error: unknown) => {
    // the data may have been removed meanwhile
    if (error instanceof AppError && error.code === 'NOT_FOUND') return { series: [] }
    throw error
  })
  for (const [time, ...extremes] of answer.series) {
    for (const value of extremes) if (typeof value === 'number') points.add(Math.max(from, Number(time)), value)
  }
  return points.points
}
