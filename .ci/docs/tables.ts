/** Tables of the documents, made of what the code declares. */
import { posix } from 'node:path'
import { builtins } from '../../plugins/index.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { plain } from '../../src/cli/terminal.ts'
import { byName, plugPage, table } from '../../src/core/plug/plug-page.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import { ISSUE_TYPES } from '../../src/core/rule/check/issue-types.ts'
import { OPTIONS, type Option } from '../../src/host/config.ts'
import { ERRORS } from '../../src/kernel/errors.ts'
import { AlarmSchema, EXTRAS } from '../../src/services/alarms/alarm-schema.ts'
import { readInterface, readInterfaces, type Member } from './interfaces.ts'
import { WALLS } from '../../test/support/import-walls.ts'
import { filesUnder, readText } from '../../test/support/repository.ts'

export function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([name, { status, meaning }]) => [`\`${name}\``, String(status), meaning])
  return table(['code', 'HTTP', 'meaning'], rows)
}

export function issueTable(): string {
  const rows = Object.entries(ISSUE_TYPES).map(([name, about]) => [`\`${name}\``, about])
  return table(['type', 'problem'], rows)
}

export function optionTable(): string {
  const options: readonly Option[] = Object.values(OPTIONS)
  const rows = options.map(({ flag, env, value, help, default: usual }) => {
    const shown = value === undefined ? `--${flag}` : `--${flag} <${value}>`
    return [`\`${shown}\``, `\`${env}\``, usual === undefined ? '' : `\`${usual}\``, help]
  })
  return table(['option', 'environment', 'default', ''], rows)
}

/** One row a member. Throws when one has no comment: its row would say nothing. */
export function memberTable(path: string, name: string): string {
  return rowsOf(path, readInterface(readText(path), name).members)
}

/** What alarms have besides the interface of the platform, from the schema of what is answered. */
export function alarmTable(): string {
  const { snoozeUntil } = AlarmSchema.properties
  const rows = Object.entries({ ...EXTRAS, snoozeUntil }).map(([name, schema]) => {
    const { description = '' } = schema as { readonly description?: string }
    const type = schema.type === 'object' ? `{ ${Object.keys(schema.properties).join(', ')} }` : schema.type
    return [`[\`${name}\`]`, `\`${type}\``, description]
  })
  return table(['field', 'type', 'meaning'], rows)
}

/** An overview with a link for each plug, and the page of each. */
export function plugReference(): string {
  const plugs = builtins.toSorted(byName)
  const rows = plugs.map((plug) => [
    `[\`${plug.name}\`](#${anchorOf(plug)})`,
    plug.kind,
    plug.states.map((state) => `\`${state}\``).join(', '),
    whenBusy(plug),
    plug.description ?? '',
  ])
  const pages = plugs.map((plug) => {
    const page = plugPage(plug).replace(/^# .+$/m, `## ${titleOf(plug)}`)
    return `<a id="${anchorOf(plug)}"></a>\n\n${page}`
  })
  return [table(['plug', 'kind', 'states', 'when busy', 'what it does'], rows), ...pages].join('\n\n')
}

/** What becomes of a call while earlier work of the task goes on, in a few words. */
function whenBusy({ kind, reads, acts, touches }: Plug): string {
  if (kind === 'sensor' && acts === false) return reads === 'message' ? 'may begin ahead' : 'its turn'
  const order = touches === undefined ? 'in order per node' : 'in order per thing'
  return kind === 'sensor' ? `its turn, ${order}` : order
}

function titleOf({ name, kind }: Plug): string {
  const both = builtins.filter((plug) => plug.name === name).length > 1
  return both ? `${name} (${kind})` : name
}

function anchorOf({ name, kind }: Plug): string {
  return `${kind}-${name}`
}

const EVENTS = 'src/core/engine/events.ts'

/** A part for each type of event, in the order of the code. */
export function eventReference(): string {
  const events = readInterfaces(readText(EVENTS)).flatMap(({ name, parents, about, members }) => {
    const type = /^Base<'(\w+)'>$/.exec(parents)?.[1]
    if (type === undefined) return []
    if (about === '') throw new Error(`${EVENTS}: ${name} has no comment, and so nothing to say in the documents`)
    return [`### \`${type}\`\n\n${about}\n\n${rowsOf(EVENTS, members)}`]
  })
  return events.join('\n\n')
}

/** The chain of a firing, interface by interface. */
export function whyReference(): string {
  const names = ['Why', 'InputSummary', 'WhyTrigger', 'WhySensor', 'WhyGate', 'WhyStep']
  const source = readText(EVENTS)
  return names
    .map((name) => readInterface(source, name))
    .map(({ name, about, members }) => `### \`${name}\`\n\n${about}\n\n${rowsOf(EVENTS, members)}`)
    .join('\n\n')
}

function rowsOf(path: string, members: readonly Member[]): string {
  const bare = members.filter(({ about }) => about === '').map(({ name }) => name)
  if (bare.length > 0) throw new Error(`${path}: members without a comment: ${bare.join(', ')}`)
  const rows = members.map(({ name, optional, type, about }) => [
    optional ? `[\`${name}\`]` : `\`${name}\``,
    `\`${type}\``,
    about,
  ])
  return table(['field', 'type', 'meaning'], rows)
}

/** Help of the program and of each command, including nested commands. */
export async function commandReference(): Promise<string> {
  return (await helpOf([])).join('\n\n')
}

async function helpOf(command: readonly string[]): Promise<readonly string[]> {
  const text = await help(command)
  const heading = command.length === 0 ? [] : [`## ${command.join(' ')}`]
  const commands = text.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? ''
  const nested: string[] = []
  for (const [, name = ''] of commands.matchAll(/^ {2}([a-z]+)\b/gm)) nested.push(...(await helpOf([...command, name])))
  return [...heading, `\`\`\`text\n${text}\n\`\`\``, ...nested]
}

async function help(command: readonly string[]): Promise<string> {
  let text = ''
  const out = (one: string) => void (text += one)
  const nowhere = { paint: plain, outIsTerminal: false, errIsTerminal: false, closed: false, full: false }
  await runCommandLine([...command, '--help'], { ...nowhere, out, err: out, drained: () => Promise.resolve() })
  return text.trimEnd()
}

/** A line for each decision, by its number and title. */
export function decisionList(): string {
  const pages = filesUnder(['docs/decisions'], '.md').filter((path) => /\/\d{3}-/.test(path))
  return pages.map((path) => `- [${/^# (.+)$/m.exec(readText(path))?.[1] ?? path}](${posix.basename(path)})`).join('\n')
}

/** Who may import whom, as the test of the walls has it. */
export function wallsTable(): string {
  const named = (list: readonly string[]) => list.map((one) => (one === '**' ? 'anything' : `\`${one}\``)).join(', ')
  const rows = WALLS.map(({ from, doors, packages, pure }) => [
    `\`${from}\``,
    named(doors) || 'none',
    named(packages) || 'none',
    pure ? 'yes' : '',
  ])
  return table(['files', 'doors', 'packages', 'pure: no clock, chance or timer of its own'], rows)
}
