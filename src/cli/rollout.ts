/** `reflexarc rollout`: tries a version of a template beside the live one, moves tasks to it, and takes it back. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Client } from '#client'
import { AppError } from '#kernel'
import type { Rollout, RolloutPreview, RolloutRequest, RolloutSummary } from '#services/rules/contract'
import type { DefineCommand } from './command.ts'
import { connected } from './connected.ts'
import { connect, type ConnectFlags } from './functions/connect.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'
import { visible } from './visible.ts'

export const define: DefineCommand = (command, start) => {
  const rollout = command
    .description(
      'Tries a version of a template beside the live one (shadow), moves the tasks of a share of resources to it\n' +
        '(canary) or all tasks (all), promotes it, and takes it back.',
    )
    .helpCommand(false)
  const define = (name: string, summary: string): Command =>
    connected(rollout.command(name))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
  const numbered = (text: string): number => Number(text)
  define('start', 'start a roll-out of a version')
    .argument('<template>', 'name of the template')
    .argument('<version>', 'version of the template, which may be a draft', numbered)
    .option('--mode <mode>', 'shadow, canary or all', 'shadow')
    .option('--percent <number>', 'share of the resources', numbered)
    .option('--resources <ids>', 'resources, separated by commas')
    .option('--tolerance <duration>', 'within which a firing counts as moved, such as 10m')
    .option('--stop <json>', 'limits per day, such as {"divergence":10,"errors":0,"alarms":50}')
    .option('--note <text>', 'why')
    .option('--dry-run', 'print which tasks are affected, and which state they would lose')
    .action((template: string, version: number, flags: StartFlags) =>
      start(async (terminal) => {
        const { rollouts } = connect(flags, process.env).rules
        const request = requestOf(version, flags)
        if (flags.dryRun === true) return print(await rollouts.preview(template, request), flags, terminal, previewText)
        return print(await rollouts.create(template, request), flags, terminal, rolloutText)
      }),
    )
  define('list', 'list the roll-outs of a template, newest first')
    .argument('<template>', 'name of the template')
    .action((template: string, flags: ConnectFlags) =>
      start(async (terminal) => {
        const { values } = await connect(flags, process.env).rules.rollouts.list(template, { hits: 100, startIndex: 0 })
        return print(values, flags, terminal, listText)
      }),
    )
  define('show', 'show a roll-out, and how the firings of its version differ')
    .argument('<template>', 'name of the template')
    .argument('[id]', 'id of the roll-out (default: the newest)')
    .action((template: string, id: string | undefined, flags: ConnectFlags) =>
      start(async (terminal) => {
        const client = connect(flags, process.env)
        const found = await client.rules.rollouts.get(template, id ?? (await newest(client, template)))
        return print(found, flags, terminal, rolloutText)
      }),
    )
  for (const [name, summary] of ENDS) {
    define(name, summary)
      .argument('<template>', 'name of the template')
      .argument('[id]', 'id of the roll-out (default: the newest)')
      .option('--dry-run', 'print which state tasks would lose')
      .action((template: string, id: string | undefined, flags: ConnectFlags & { dryRun?: boolean }) =>
        start(async (terminal) => {
          const client = connect(flags, process.env)
          const { rollouts } = client.rules
          const known = id ?? (await newest(client, template))
          if (flags.dryRun === true) {
            const preview = name === 'promote' ? rollouts.previewPromote : rollouts.previewRollback
            return print(await preview(template, known), flags, terminal, previewText)
          }
          return print(await rollouts[name](template, known), flags, terminal, rolloutText)
        }),
      )
  }
  rollout.addHelpText(
    'after',
    '\nExample:\n  reflexarc rollout start overheating 4 --mode canary --percent 10 --stop \'{"alarms":20}\'',
  )
}

const ENDS = [
  ['promote', 'publish the version, and move all tasks to it'],
  ['rollback', 'end a roll-out, and move its tasks back'],
] as const

interface StartFlags extends ConnectFlags {
  mode: string
  percent?: number
  resources?: string
  tolerance?: string
  stop?: string
  note?: string
  dryRun?: boolean
}

/** The host checks the request. */
function requestOf(version: number, { mode, percent, resources, tolerance, stop, note }: StartFlags): RolloutRequest {
  return {
    version,
    mode: mode as RolloutRequest['mode'],
    ...(percent !== undefined && { percent }),
    ...(resources !== undefined && { resources: resources.split(',') }),
    ...(tolerance !== undefined && { tolerance }),
    ...(stop !== undefined && { stop: jsonOf(stop) as NonNullable<RolloutRequest['stop']> }),
    ...(note !== undefined && { note }),
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text)
  } catch {
    const right = 'write JSON such as {"divergence":10}, or @ and the name of a file'
    throw new AppError('USAGE', `--stop: ${JSON.stringify(text)} is not JSON; ${right}`)
  }
}

async function newest({ rules }: Client, template: string): Promise<string> {
  const [first] = (await rules.rollouts.list(template, { hits: 1, startIndex: 0 })).values
  if (first !== undefined) return first.id
  const right = `start one with reflexarc rollout start ${template} VERSION`
  throw new AppError('NOT_FOUND', `template ${template} has no roll-outs; ${right}`)
}

function print<T>(value: T, { json = false }: ConnectFlags, terminal: Terminal, text: (value: T) => string): 0 {
  terminal.out(json ? `${JSON.stringify(value, null, 2)}\n` : text(value))
  return 0
}

function listText(values: readonly RolloutSummary[]): string {
  if (values.length === 0) return 'no roll-outs\n'
  const rows = values.map(({ id, version, mode, status, createTime, tasks }) => [
    id,
    `version ${version}`,
    mode,
    status,
    `${tasks.selected} tasks`,
    new Date(createTime).toISOString(),
  ])
  return `${tableLines(rows).join('\n')}\n`
}

const MAX_LINES = 20

function rolloutText(rollout: Rollout): string {
  const { id, template, version, mode, status, tasks, reason, notice, comparison } = rollout
  const { counts, nodes, day } = comparison
  const head = `${mode} of ${visible(template)} version ${version}: ${status} (${id})`
  const about = `${tasks.selected} tasks, ${tasks.moved} moved, ${tasks.failed.length} failed`
  const table = [
    ['node', 'equal', 'only new', 'only old', 'moved'],
    ...nodes.map((one) => [visible(one.node), one.equal, one.onlyNew, one.onlyOld, one.moved].map(String)),
    ['all', counts.equal, counts.added, counts.removed, counts.moved].map(String),
  ]
  const differences = [
    ...comparison.added.map((one) => ({ ...one, sign: '+' })),
    ...comparison.removed.map((one) => ({ ...one, sign: '-' })),
    ...comparison.moved.map((one) => ({ ...one, sign: '~' })),
  ].toSorted((a, b) => a.time - b.time)
  const shown = differences.slice(-MAX_LINES).map(({ sign, time, node, resource, by, firing, other }) => {
    const source = (firing ?? other)?.source ?? ''
    const moved = by === undefined ? '' : ` (${by > 0 ? '+' : ''}${by} ms)`
    return `${sign} ${new Date(time).toISOString()} ${visible(`${resource ?? ''} ${source} -> ${node}`)}${moved}`
  })
  return [
    head,
    about,
    ...(reason === undefined ? [] : [`because: ${visible(reason)}`]),
    ...(notice === undefined ? [] : [visible(notice)]),
    ...tasks.failed.map(({ task, error }) => `x ${task}: ${visible(error)}`),
    ...tableLines(table, new Set([1, 2, 3, 4])),
    ...shown,
    `last 24 hours: ${day.divergence} firings of one version only, ${day.errors} failed calls, ${day.alarms} alarms`,
    '',
  ].join('\n')
}

function previewText({ total, tasks }: RolloutPreview): string {
  const lines = tasks.flatMap(({ name, lost = [], error }) => [
    `${error === undefined ? '~' : 'x'} ${visible(name)}${error === undefined ? '' : `: ${visible(error)}`}`,
    ...lost.map(({ node, what }) => `    ${visible(node)} loses ${what.join(', ')}`),
  ])
  return [...lines, `${total} tasks`, ''].join('\n')
}
