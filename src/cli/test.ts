/** `reflexarc test PATH...`: runs the example tests of rules, and prints what differs and why. */
import { existsSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { type DefineCommand, PLUGS, untilSignal } from './command.ts'
import { createRegistry, type Rule, type Template } from '#core'
import { AppError, messageOf } from '#kernel'
import { loadPlugs } from '#host/load-plugs'
import { connected } from './connected.ts'
import { connect, type ConnectFlags } from './functions/connect.ts'
import { counted } from './numbers.ts'
import { issueLines, readRuleFile } from './rule-file.ts'
import { type CaseResult, type FileResult, type OpenWorld, runCase } from './rule-tests/run-case.ts'
import { runStoredCase } from './rule-tests/stored-case.ts'
import { readTestFile, type TestFile } from './rule-tests/test-file.ts'
import type { Terminal } from './terminal.ts'
import { visible } from './visible.ts'

export const define: DefineCommand = (command, start) => {
  connected(command)
    .description(
      'Runs example tests of rules: what devices send, and what the rule must do then. A test file is JSON or YAML,\n' +
        'named *.test.json or *.test.yaml; folders are searched. Ends with 2 when an example does not hold.\n' +
        'The connection to a host is used by examples on stored data only.',
    )
    .argument('[path...]', 'test files and folders (default: the current folder)')
    .option(...PLUGS)
    .option('--only <text>', 'run only examples whose name contains the text')
    .option('--junit <file>', 'write the results in the form of JUnit')
    .option('--watch', 'run again whenever a file in the folders changes')
    .addHelpText('after', '\nExample:\n  reflexarc test fixtures/tests')
    .action((paths: readonly string[], flags: TestFlags) => start((terminal) => runTests(paths, flags, terminal)))
}

export interface TestFlags extends ConnectFlags {
  plugs: readonly string[]
  only?: string
  junit?: string
  watch?: boolean
}

const TEST = /\.test\.(?:json|ya?ml)$/

/** `stop` ends watching; default: a signal of the process. */
export async function runTests(
  paths: readonly string[],
  flags: TestFlags,
  terminal: Terminal,
  stop?: AbortSignal,
): Promise<0 | 1 | 2> {
  const places = paths.length > 0 ? paths : ['.']
  if (flags.watch !== true) return runOnce(places, flags, terminal)
  for await (const _ of changesOf(places, stop ?? untilSignal())) {
    // a file that is being edited may be broken for a while
    await runOnce(places, flags, terminal).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error
      terminal.err(`error: ${error.message}\n`)
    })
  }
  return 0
}

async function runOnce(places: readonly string[], flags: TestFlags, terminal: Terminal): Promise<0 | 1 | 2> {
  const files = await readAll(places.flatMap(testsAt))
  if (files.length === 0) {
    throw new AppError(
      'USAGE',
      `${places.join(', ')}: no test file found; name it like pump.test.json or pump.test.yaml`,
    )
  }
  const registry = createRegistry(await loadPlugs(flags.plugs))
  const results: FileResult[] = []
  for (const file of files) {
    const { rule, ...read } = await readRuleFile(file.rulePath, registry)
    const cases =
      rule === undefined
        ? [{ name: file.rule, problems: issueLines({ rule, ...read }) }]
        : await casesOf(file, rule, flags)
    results.push({ file: file.path, cases })
    if (flags.json !== true) terminal.out(linesOf(file.path, cases, terminal))
  }
  const ran = results.flatMap(({ cases }) => cases)
  const failed = ran.filter(({ problems }) => problems.length > 0).length
  if (ran.length === 0) throw new AppError('USAGE', `--only: no example has "${flags.only ?? ''}" in its name`)
  if (flags.json === true) terminal.out(`${JSON.stringify(results, null, 2)}\n`)
  else terminal.out(`${counted(ran.length, 'example')}, ${failed === 0 ? 'all hold' : `${failed} failed`}\n`)
  if (flags.junit !== undefined) {
    const [{ junit }, { writeFile }] = await Promise.all([import('./rule-tests/junit.ts'), import('node:fs/promises')])
    await writeFile(flags.junit, junit(results))
  }
  return failed === 0 ? 0 : 2
}

async function casesOf(file: TestFile, rule: Rule | Template, flags: TestFlags): Promise<readonly CaseResult[]> {
  const { memoryWorld } = await import('#testing/world')
  const newWorld = memoryWorld()
  const openWorld: OpenWorld = (around) => {
    const services = newWorld(around)
    return { services, plugs: loadPlugs(flags.plugs, services) }
  }
  const results: CaseResult[] = []
  for (const one of file.cases.filter(({ name }) => name.includes(flags.only ?? ''))) {
    try {
      const { stored } = one
      results.push(
        stored === undefined
          ? await runCase(file, one, rule, openWorld)
          : await runStoredCase(file, one, stored, rule, connect(flags, process.env)),
      )
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'USAGE') throw error
      results.push({ name: one.name, problems: [messageOf(error)] })
    }
  }
  return results
}

/** Reads all files, and throws the problems of all of them at once. */
async function readAll(paths: readonly string[]): Promise<readonly TestFile[]> {
  const files: TestFile[] = []
  const problems: AppError[] = []
  for (const path of paths) {
    try {
      files.push(await readTestFile(path))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(error)
    }
  }
  const [first] = problems
  if (first !== undefined) throw new AppError(first.code, problems.map(messageOf).join('\nerror: '))
  return files
}

function testsAt(path: string): readonly string[] {
  if (!existsSync(path)) throw new AppError('NOT_FOUND', `${path}: the file does not exist; name a test or a folder`)
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && TEST.test(one.name) && !one.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
}

function linesOf(file: string, cases: readonly CaseResult[], { paint }: Terminal): string {
  const lines = cases.flatMap(({ name, problems }) => [
    problems.length === 0
      ? `  ${paint('green', 'ok  ')} ${visible(name)}`
      : `  ${paint('red', 'FAIL')} ${visible(name)}`,
    ...problems.flatMap((problem) => problem.split('\n').map(indented)),
  ])
  return `${[visible(file), ...lines].join('\n')}\n`
}

function indented(line: string): string {
  const text = line.trimStart()
  return ' '.repeat(7 + line.length - text.length) + visible(text)
}

/** Yields at once, and then for each burst of changes in the folders of the tests. */
async function* changesOf(places: readonly string[], signal: AbortSignal): AsyncGenerator<void> {
  let wake: (() => void) | undefined
  let changed = false
  const watchers = places.map((place) =>
    watch(place, { recursive: true, signal }, () => {
      changed = true
      wake?.()
    }),
  )
  for (const watcher of watchers) watcher.on('error', () => wake?.())
  signal.addEventListener('abort', () => wake?.())
  while (!signal.aborted) {
    changed = false
    yield
    if (!changed) await new Promise<void>((resolve) => (wake = resolve))
    // one save of an editor is several events
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 100))
  }
  for (const watcher of watchers) watcher.close()
}
