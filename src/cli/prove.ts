/** `reflexarc prove RULE` and `reflexarc mutate RULE`: check properties of a rule, and which changes they miss. */
import { PLUGS, type DefineCommand } from './command.ts'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRegistry, type Plug, type Rule, type Template } from '#core'
import { AppError, durationMs, isPlainObject, messageOf } from '#kernel'
import type * as Kit from '#testing'
import { loadPlugs } from '#host/load-plugs'
import { issueLines, readRuleFile, verdict } from './rule-file.ts'
import type { Terminal } from './terminal.ts'

const PROPERTIES = `
The file of properties is an ES module whose default export is a function. Its argument contains the exports of
reflexarc/testing, and fast-check as fc. It returns { properties, options }, with generators of messages in options,
as for checkRule. Copy fixtures/properties/overheating.mjs to begin.`

export const defineProve: DefineCommand = (command, start) => {
  command
    .description(
      'Runs a rule over random messages, and over cases that failed before, and checks properties of every run. A failing\n' +
        'case is minimized. The exit code is 2 if a property does not hold, or if its subject never occurred.\n' +
        PROPERTIES,
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .requiredOption('--props <file>', 'module with properties and generators of messages')
    .option('--time <duration>', 'duration of the search, such as 30s or 5m', '10s')
    .option('--length <messages>', 'then try all sequences of up to this many messages, for the same duration')
    .option('--seed <number>', 'seed of the cases (default: random)')
    .option('--save <folder>', 'store failing cases in this folder, and try stored cases first')
    .option('--json', 'print one JSON object')
    .option(...PLUGS)
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc prove fixtures/rules/overheating.json --props fixtures/properties/overheating.mjs --time 5s',
    )
    .action((rule: string, flags: ProveFlags) => start((terminal) => runProve(rule, flags, terminal)))
}

export const defineMutate: DefineCommand = (command, start) => {
  command
    .description(
      'Changes one thing of a rule at a time (a limit, a gate, a state, a cool-down, a zone) and checks the properties of\n' +
        'each mutant. A mutant that survives shows a gap in the properties.\n' +
        PROPERTIES,
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .requiredOption('--test <file>', 'module with properties and generators of messages')
    .option('--cases <number>', 'number of cases per mutant', '300')
    .option('--seed <number>', 'seed of the cases', '1')
    .option('--least <percent>', 'exit with 2 if fewer mutants are killed', '0')
    .option('--json', 'print one JSON object')
    .option(...PLUGS)
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc mutate fixtures/rules/overheating.json --test fixtures/properties/overheating.mjs',
    )
    .action((rule: string, flags: MutateFlags) => start((terminal) => runMutate(rule, flags, terminal)))
}

export interface ProveFlags {
  props: string
  time: string
  length?: string
  seed?: string
  save?: string
  json?: boolean
  plugs: readonly string[]
}

export interface MutateFlags {
  test: string
  cases: string
  seed: string
  least: string
  json?: boolean
  plugs: readonly string[]
}

interface Properties {
  readonly properties: readonly Kit.PropertyLike[]
  readonly options: Omit<Kit.CheckOptions, 'plugs'>
}

interface Loaded extends Properties {
  readonly kit: typeof Kit
  readonly rule: Rule | Template
  readonly plugs: readonly Plug[]
}

const CASE = '.case.json'

export async function runProve(path: string, flags: ProveFlags, terminal: Terminal): Promise<0 | 1 | 2> {
  const time = durationOf('--time', flags.time)
  const seed = flags.seed === undefined ? undefined : numberOf('--seed', flags.seed)
  const length = flags.length === undefined ? undefined : numberOf('--length', flags.length)
  const loaded = await load(path, flags.props, flags.plugs, terminal)
  if (loaded === undefined) return 1
  const { kit, rule, plugs, properties, options } = loaded
  const checking = { ...options, plugs }
  const said: string[] = []
  try {
    const saved = flags.save === undefined ? [] : await savedCases(flags.save, kit)
    for (const { file, one } of saved) await checkSaved(file, { ...one, rule }, loaded)
    if (saved.length > 0) said.push(`${saved.length} saved cases hold`)
    const report = await kit.checkRule(rule, properties, { ...checking, time, ...(seed !== undefined && { seed }) })
    said.push(report.toString())
    const proof = length === undefined ? undefined : await proofOf(loaded, length, time, terminal)
    if (proof !== undefined) said.push(proof.toString())
    if (flags.json === true)
      terminal.out(`${JSON.stringify({ holds: true, saved: saved.length, report, proof }, null, 2)}\n`)
    else terminal.out(`${said.join('\n')}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'PROPERTY') throw error
    const failing = error instanceof kit.PropertyError ? error.failing : undefined
    const kept = flags.save === undefined || failing === undefined ? undefined : await save(flags.save, kit, failing)
    if (flags.json === true)
      terminal.out(`${JSON.stringify({ holds: false, message: error.message, failing, kept }, null, 2)}\n`)
    else terminal.out(`${[error.message, ...(kept === undefined ? [] : [`stored as ${kept}`])].join('\n')}\n`)
    return 2
  }
}

async function checkSaved(file: string, one: Kit.RunCase, { kit, properties, options, plugs }: Loaded): Promise<void> {
  try {
    await kit.checkCase(one, properties, { ...options, plugs })
  } catch (error) {
    if (!(error instanceof kit.PropertyError)) throw error
    throw new kit.PropertyError(`${file}: ${error.message}`, { failing: one, cause: error })
  }
}

export async function runMutate(path: string, flags: MutateFlags, terminal: Terminal): Promise<0 | 1 | 2> {
  const [numRuns, seed, least] = [
    numberOf('--cases', flags.cases),
    numberOf('--seed', flags.seed),
    numberOf('--least', flags.least),
  ]
  const loaded = await load(path, flags.test, flags.plugs, terminal)
  if (loaded === undefined) return 1
  const { kit, rule, plugs, properties, options } = loaded
  const mutation = await kit.mutateRule(rule, properties, {
    ...options,
    plugs,
    numRuns,
    seed,
    onProgress: ({ done, of, name }) => {
      if (terminal.errIsTerminal) terminal.err(`\r\u001b[K${done} of ${of}  ${name.slice(0, 60)}`)
    },
  })
  if (terminal.errIsTerminal) terminal.err('\r\u001b[K')
  terminal.out(`${flags.json === true ? JSON.stringify(mutation, null, 2) : mutation.toString()}\n`)
  const all = mutation.killed.length + mutation.survived.length
  return (100 * mutation.killed.length) / all < least ? 2 : 0
}

/** Proves the properties that are checked moment by moment; undefined if there are none. */
async function proofOf(
  { kit, rule, plugs, properties, options }: Loaded,
  length: number,
  time: number,
  terminal: Terminal,
) {
  const fit = properties.filter((one): one is Kit.RuleProperty => typeof one === 'object' && one.monitor !== undefined)
  if (fit.length === 0) return undefined
  const proof = await kit.proveRule(rule, fit, {
    ...(options as Kit.ProveOptions),
    plugs,
    length,
    time,
    onProgress: ({ length: done, states }) => {
      if (terminal.errIsTerminal) terminal.err(`\r\u001b[Kall sequences of ${done} messages, ${states} states`)
    },
  })
  if (terminal.errIsTerminal) terminal.err('\r\u001b[K')
  return proof
}

async function load(
  path: string,
  properties: string,
  plugPaths: readonly string[],
  terminal: Terminal,
): Promise<Loaded | undefined> {
  const plugs = await loadPlugs(plugPaths)
  const file = await readRuleFile(path, createRegistry(plugs))
  if (file.rule === undefined) {
    terminal.err(`${[...issueLines(file), verdict(file)].join('\n')}\n`)
    return undefined
  }
  const kit = await loadKit()
  return { kit, rule: file.rule, plugs, ...(await propertiesOf(properties, kit)) }
}

async function loadKit(): Promise<typeof Kit> {
  try {
    return await import('#testing')
  } catch (error) {
    throw new AppError('USAGE', `missing package fast-check: npm i -D fast-check (${messageOf(error)})`)
  }
}

async function propertiesOf(path: string, kit: typeof Kit): Promise<Properties> {
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(pathToFileURL(resolve(path)).href)) as typeof module
  } catch (error) {
    throw new AppError('USAGE', `${path} cannot be loaded: ${messageOf(error)}`)
  }
  const { default: make } = module
  const { default: fc } = await import('fast-check')
  const exported: unknown =
    typeof make === 'function' ? await (make as (kit: object) => unknown)({ ...kit, fc }) : (make ?? module)
  if (isPlainObject(exported) && Array.isArray(exported['properties']) && isPlainObject(exported['options']))
    return { properties: exported['properties'] as Kit.PropertyLike[], options: exported['options'] }
  throw new AppError(
    'USAGE',
    `${path} does not return { properties: [...], options: { metrics } }; write export default (kit) => ({ properties, options })`,
  )
}

async function savedCases(folder: string, kit: typeof Kit): Promise<{ file: string; one: Kit.RunCase }[]> {
  const names = await readdir(folder).catch(() => [])
  const cases: { file: string; one: Kit.RunCase }[] = []
  for (const name of names.filter((one) => one.endsWith(CASE)).sort()) {
    const file = join(folder, name)
    cases.push({ file, one: kit.readCase(await readFile(file, 'utf8')) })
  }
  return cases
}

async function save(folder: string, kit: typeof Kit, failing: Kit.RunCase): Promise<string> {
  const text = kit.caseText(failing)
  const name = createHash('sha256').update(text).digest('hex').slice(0, 12)
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${name}${CASE}`)
  await writeFile(file, text)
  return file
}

function numberOf(flag: string, text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isInteger(number) && number >= 0) return number
  throw new AppError('USAGE', `${flag}: "${text}" is not a whole number from 0`)
}

function durationOf(flag: string, text: string): number {
  try {
    return durationMs(text)
  } catch (error) {
    throw new AppError('USAGE', `${flag}: ${messageOf(error)}`)
  }
}
