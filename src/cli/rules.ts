/** `reflexarc rules pull|push|diff DIR`: keeps the rules of a host as files, for version control. */
import type { Command } from 'commander'
import type { Client } from '#client'
import { AppError, type Difference, messageOf } from '#kernel'
import { type DefineCommand, PLUGS } from './command.ts'
import { connected } from './connected.ts'
import { connect, type ConnectFlags } from './functions/connect.ts'
import { runRuleCode } from './rule-files/print-code.ts'
import { hashOf, type Pulled, RulesFolder } from './rule-files/folder.ts'
import { inParallel } from './rule-files/kinds.ts'
import { changesOf, compare, type Entry, isEqual, nameOf } from './rule-files/plan.ts'
import type { Terminal } from './terminal.ts'
import { visible } from './visible.ts'

export const define: DefineCommand = (command, start) => {
  const rules = command
    .description(
      'Keeps the rules of a host as files: templates, tasks, resource types, constraints, converters, stored queries,\n' +
        'types of alarms, subscriptions, sources and sinks, one file each. The file .reflexarc.json in the folder records what the host\n' +
        'had, so that a push never overwrites a change that was made on the host meanwhile.',
    )
    .helpCommand(false)
  const define = (name: RulesAction, summary: string): Command =>
    connected(rules.command(name))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .argument('<folder>', 'the folder of the files')
      .action((folder: string, flags: RulesFlags) => start((terminal) => runRules(name, folder, flags, terminal)))
  define('pull', 'write what the host has into files')
    .option('--yaml', 'write new files as YAML')
    .option('--force', 'overwrite files that were changed here')
  define('push', 'bring the files to the host')
    .option('--dry-run', 'print what would change, and which state running tasks would lose')
    .option('--prune', 'also delete what the host has and the folder lacks')
    .option('--force', 'overwrite what was changed on the host')
    .option('--draft', 'store changed templates as drafts, and push nothing else')
    .option('--note <text>', 'with --draft: why the versions are made')
  define('diff', 'print how files and host differ; ends with 2 if they do')
  rules
    .command('code')
    .summary('print a rule as code of reflexarc/rules')
    .description('Prints a rule or template as code of reflexarc/rules. Running the code makes an equal rule.')
    .argument('<file>', 'JSON file; - is standard input')
    .option(...PLUGS)
    .action((file: string, options: { readonly plugs: readonly string[] }) =>
      start((terminal) => runRuleCode(file, options.plugs, terminal)),
    )
  rules.addHelpText('after', '\nExample:\n  reflexarc rules pull ./rules --url http://127.0.0.1:8080')
}

export type RulesAction = 'pull' | 'push' | 'diff'

export interface RulesFlags extends ConnectFlags {
  yaml?: boolean
  force?: boolean
  dryRun?: boolean
  prune?: boolean
  draft?: boolean
  note?: string
}

type Outcome = 'created' | 'changed' | 'draft' | 'deleted' | 'conflict' | 'only on the host' | 'failed'

interface Line {
  readonly document: string
  readonly outcome: Outcome
  readonly changes?: readonly Difference[]
  readonly lost?: readonly { readonly node: string; readonly what: readonly string[] }[]
  readonly error?: string
  /** of a draft */
  readonly version?: number
}

const SIGNS: Readonly<Record<Outcome, string>> = {
  created: '+',
  changed: '~',
  draft: '*',
  deleted: '-',
  conflict: '!',
  'only on the host': '?',
  failed: 'x',
}
const MAX_SHOWN = 20
const MAX_TEXT = 100

/** Returns 1 if something failed or is in conflict, and for `diff` 2 if anything differs. */
export async function runRules(
  action: RulesAction,
  path: string,
  flags: RulesFlags,
  terminal: Terminal,
): Promise<0 | 1 | 2> {
  const client = connect(flags, process.env)
  const folder = new RulesFolder(path)
  const compared = await compare(client, folder)
  const differing = compared.entries.filter((entry) => !isEqual(entry))
  const equal = compared.entries.filter(isEqual)
  const { pulled } = compared
  for (const entry of equal) remember(pulled, entry, entry.file?.document, entry.host)
  const lines =
    action === 'diff'
      ? differing.map(diffLine)
      : action === 'pull'
        ? await pull(folder, pulled, differing, flags)
        : await push(client, pulled, differing, flags)
  const isDry = action === 'diff' || flags.dryRun === true
  if (!isDry) folder.keep(pulled)
  if (flags.json === true) terminal.out(`${JSON.stringify(lines, null, 2)}\n`)
  else terminal.out(textOf(lines, `${lines.length} ${isDry ? 'differ' : 'changed'}, ${equal.length} equal`))
  if (lines.some(({ outcome }) => outcome === 'conflict' || outcome === 'failed')) return 1
  return action === 'diff' && lines.length > 0 ? 2 : 0
}

function diffLine(entry: Entry): Line {
  const document = nameOf(entry.kind, entry.id)
  if (entry.file === undefined) return { document, outcome: 'only on the host' }
  if (entry.host === undefined) return { document, outcome: 'created' }
  return { document, outcome: isConflict(entry) ? 'conflict' : 'changed', changes: changesOf(entry) }
}

/** Both sides changed since the last pull or push. */
function isConflict({ fileChanged, hostChanged }: Entry): boolean {
  return fileChanged && hostChanged
}

async function pull(
  folder: RulesFolder,
  pulled: Pulled,
  differing: readonly Entry[],
  { yaml = false, force = false }: RulesFlags,
): Promise<readonly Line[]> {
  const lines: Line[] = []
  for (const entry of differing) {
    const { kind, id, file, host } = entry
    const document = nameOf(kind, id)
    if (file !== undefined && !force) {
      // a file that only changed here is left for a push
      if (!entry.hostChanged || (host === undefined && !pulled.has(document))) continue
      if (entry.fileChanged) {
        lines.push({ document, outcome: 'conflict', changes: changesOf(entry) })
        continue
      }
    }
    if (host === undefined) {
      if (file !== undefined) folder.remove(file.path)
      pulled.delete(document)
      lines.push({ document, outcome: 'deleted' })
      continue
    }
    await folder.write(file?.path ?? folder.pathOf(kind, id, yaml ? '.yaml' : '.json'), host)
    remember(pulled, entry, host, host)
    lines.push({ document, outcome: file === undefined ? 'created' : 'changed' })
  }
  return lines
}

async function push(
  client: Client,
  pulled: Pulled,
  differing: readonly Entry[],
  { dryRun = false, prune = false, force = false, draft = false, note }: RulesFlags,
): Promise<readonly Line[]> {
  const lines: Line[] = []
  const wanted: Entry[] = []
  for (const entry of differing) {
    if (draft && (entry.kind.draft === undefined || entry.file === undefined)) continue
    const document = nameOf(entry.kind, entry.id)
    const isNew = entry.host === undefined && !pulled.has(document)
    const isExtra = entry.file === undefined
    if (isExtra && !prune) lines.push({ document, outcome: 'only on the host' })
    else if (!force && !isNew && entry.hostChanged && (isExtra || entry.fileChanged))
      lines.push({ document, outcome: 'conflict', changes: changesOf(entry) })
    else wanted.push(entry)
  }
  // nothing is changed while the host differs from what was pulled
  if (lines.some(({ outcome }) => outcome === 'conflict')) return lines
  const saved = wanted.filter(({ file }) => file !== undefined)
  const removed = wanted.filter(({ file }) => file === undefined).toReversed()
  const carryOut = (entry: Entry): Promise<Line> =>
    dryRun ? lookAhead(client, entry) : draft ? propose(client, entry, note) : change(client, entry)
  const changed = [...(await inOrder(saved, carryOut)), ...(await inOrder(removed, carryOut))]
  // a draft leaves the host as it was
  if (!dryRun && !draft) await rememberPushed(client, pulled, wanted, changed)
  return [...lines, ...changed]
}

/** Kinds follow each other. What fails is tried again as long as others succeed, since documents refer to each other. */
async function inOrder(entries: readonly Entry[], carryOut: (entry: Entry) => Promise<Line>): Promise<readonly Line[]> {
  const lines: Line[] = []
  const kinds = new Set(entries.map(({ kind }) => kind))
  const byKind = [...kinds].map((kind) => entries.filter((entry) => entry.kind === kind))
  let open: readonly Entry[] = []
  for (let groups: readonly (readonly Entry[])[] = byKind; ; groups = [open]) {
    const before = groups.flat().length
    const failed: { readonly entry: Entry; readonly line: Line }[] = []
    for (const group of groups)
      for (const { entry, line } of await inParallel(group, async (entry) => ({ entry, line: await carryOut(entry) })))
        if (line.outcome === 'failed') failed.push({ entry, line })
        else lines.push(line)
    if (failed.length === 0 || failed.length === before) return [...lines, ...failed.map(({ line }) => line)]
    open = failed.map(({ entry }) => entry)
  }
}

async function lookAhead(client: Client, entry: Entry): Promise<Line> {
  const { kind, id, file, host } = entry
  const document = nameOf(kind, id)
  if (file === undefined) return { document, outcome: 'deleted' }
  if (host === undefined) return { document, outcome: 'created' }
  try {
    const lost = (await kind.lost?.(client, id, file.document)) ?? []
    return { document, outcome: 'changed', changes: changesOf(entry), ...(lost.length > 0 && { lost }) }
  } catch (error) {
    return failure(document, error)
  }
}

async function change(client: Client, entry: Entry): Promise<Line> {
  const { kind, id, file, host } = entry
  const document = nameOf(kind, id)
  try {
    if (file === undefined) {
      await kind.remove(client, id)
      return { document, outcome: 'deleted' }
    }
    await (host === undefined ? kind.create(client, file.document) : kind.replace(client, id, file.document))
    return { document, outcome: host === undefined ? 'created' : 'changed' }
  } catch (error) {
    // the host changed after the documents were compared
    if (error instanceof AppError && error.code === 'PRECONDITION') return { document, outcome: 'conflict' }
    return failure(document, error)
  }
}

async function propose(client: Client, { kind, id, file, host }: Entry, note: string | undefined): Promise<Line> {
  const document = nameOf(kind, id)
  try {
    const version = await kind.draft?.(client, host === undefined ? undefined : id, file?.document ?? {}, note)
    return { document, outcome: 'draft', ...(version !== undefined && { version }) }
  } catch (error) {
    return failure(document, error)
  }
}

function failure(document: string, error: unknown): Line {
  if (!(error instanceof AppError) || error.code === 'USAGE') throw error
  return { document, outcome: 'failed', error: messageOf(error) }
}

function remember(pulled: Pulled, { kind, id }: Entry, file: unknown, host: unknown): void {
  pulled.set(nameOf(kind, id), { file: hashOf(file), host: hashOf(host) })
}

/** A host may store a document in another form than that of the file, such as with defaults. */
async function rememberPushed(
  client: Client,
  pulled: Pulled,
  entries: readonly Entry[],
  lines: readonly Line[],
): Promise<void> {
  const failed = new Set(
    lines.flatMap(({ outcome, document }) => (outcome === 'failed' || outcome === 'conflict' ? [document] : [])),
  )
  const done = entries.filter(({ kind, id }) => !failed.has(nameOf(kind, id)))
  for (const kind of new Set(done.map((entry) => entry.kind))) {
    const host = new Map((await kind.list(client)).map((document) => [document[kind.key], document]))
    for (const entry of done.filter((one) => one.kind === kind)) {
      const stored = host.get(entry.id)
      if (entry.file === undefined || stored === undefined) pulled.delete(nameOf(kind, entry.id))
      else remember(pulled, entry, entry.file.document, stored)
    }
  }
}

function textOf(lines: readonly Line[], total: string): string {
  const text = lines.flatMap(({ document, outcome, changes = [], lost = [], error, version }) => [
    `${SIGNS[outcome]} ${visible(document)}${version === undefined ? '' : `: version ${version} is a draft`}${outcome in NOTES ? `: ${NOTES[outcome as keyof typeof NOTES]}` : ''}${error === undefined ? '' : `: ${visible(error)}`}`,
    ...changes.slice(0, MAX_SHOWN).map((one) => `    ${visible(changeText(one))}`),
    ...(changes.length > MAX_SHOWN ? [`    and ${changes.length - MAX_SHOWN} more changes`] : []),
    ...lost.map(({ node, what }) => `    ${visible(node)} loses ${what.join(', ')}`),
  ])
  return [...text, total, ''].join('\n')
}

const NOTES = {
  conflict: 'changed on the host since the last pull; pull it, or overwrite with --force',
  'only on the host': 'only on the host; --prune deletes it',
}

function changeText({ path, from, to }: Difference): string {
  if (from === undefined) return `${path}: ${short(to)} is new`
  if (to === undefined) return `${path}: ${short(from)} goes`
  return `${path}: ${short(from)} -> ${short(to)}`
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 3)}...`
}
