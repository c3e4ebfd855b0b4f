/** `--stored`: rehearses a rule on a host's stored data, instead of running it here over a recording. */
import type { Command } from 'commander'
import type { Client } from '#client'
import { AppError, isPlainObject } from '#kernel'
import type { Rehearsal, RehearsalRequest } from '#services/rules/contract'
import { reportOfRehearsal } from './html/stored-report.ts'
import { writeReport } from './html/write-report.ts'
import { connect, type ConnectFlags } from './functions/connect.ts'
import { textAt } from './recording/source.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'
import { formatTime } from './time-text.ts'
import { visible } from './visible.ts'
import { type Zone, zoneOf } from './zone.ts'

export function withStoredFlags(command: Command): Command {
  return command
    .option('--stored', 'rehearse on the stored data of a host; --from is also an age such as -30d')
    .option('--type <id>', 'with --stored: all resources of that type')
    .option('--query <query>', 'with --stored: all resources that match')
    .option('--url <address>', 'of the host (REFLEXARC_URL, default http://127.0.0.1:8080)')
    .option('--key <key>', 'API key (REFLEXARC_API_KEY)')
    .option('--secret <secret>', 'its secret; better given in the environment (REFLEXARC_API_SECRET)')
    .option('--token <token>', 'a bearer token in their place (REFLEXARC_TOKEN)')
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
  html?: string
}

type Asked = Pick<RehearsalRequest, 'compareWith' | 'sweep' | 'variables'>

const POLL_MS = 200

/** Prints the host's result. `other`: path of the rule to compare with, for the report. Returns 1 if the host has no data or the rehearsal failed. */
export async function runStored(
  path: string,
  asked: Asked,
  flags: StoredFlags,
  terminal: Terminal,
  other?: string,
): Promise<0 | 1> {
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
  return answer.status === 'done' ? 0 : 1
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

function requestOf({ type, query, resource, messages, from, until, seed }: StoredFlags): RehearsalRequest {
  const problems: string[] = []
  if (messages !== undefined) problems.push('--messages: stands beside --stored; keep one of them')
  if (resource !== undefined && (type !== undefined || query !== undefined))
    problems.push('--resource: stands beside --type or --query; keep one of them')
  if (seed !== undefined && !/^\d+$/.test(seed)) problems.push(`--seed: "${seed}" is not a whole number`)
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
  }
}

function linesOf(answer: Rehearsal, zone: Zone): readonly string[] {
  const { status, error, coverage, counts, firings = [], alarms, comparison, sweep, truncated = false } = answer
  if (coverage === undefined || counts === undefined) return [`the rehearsal is ${status}${error ? `: ${error}` : ''}`]
  const { summary, messages, from, until, missingMetrics } = coverage
  const lines = [
    `${summary}: ${messages} messages from ${formatTime(from, zone)} until ${formatTime(until, zone)}`,
    ...missingMetrics.map((name) => `no resource has the metric ${visible(name)}`),
    '',
  ]
  const head = `${counts.firings} firings, ${alarms?.raised ?? 0} alarms raised, ${alarms?.cleared ?? 0} cleared`
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
  const rows = firings.map(({ time, resource, node, source }) => [
    formatTime(time, zone),
    resource ?? '',
    node,
    `by ${source}`,
  ])
  const more = truncated ? [`more is at /api/rehearsals/${answer.id}`] : []
  return [...lines, ...tableLines(rows.map((row) => row.map(visible))), head, ...more]
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
