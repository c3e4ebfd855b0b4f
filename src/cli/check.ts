/** `reflexarc check RULE...`: lists every problem in rule or template files at once; exit code 1 on errors. */
import { PLUGS, type DefineCommand } from './command.ts'
import { createRegistry } from '#core'
import { loadPlugs } from '#host/load-plugs'
import { issueLines, readRuleFile, verdict, type RuleFile } from './rule-file.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description('Checks rule or template files and prints all problems, each with its location and a correction.')
    .argument('<rule...>', 'JSON files; - is standard input')
    .option(...PLUGS)
    .option('--strict', 'report undeclared properties of plugs as errors')
    .option('--json', 'print [{ file, issues }]')
    .addHelpText('after', '\nExample:\n  reflexarc check fixtures/rules/overheating.json')
    .action((files: readonly string[], options: CheckOptions) =>
      start((terminal) => runCheck(files, options, terminal)),
    )
}

export interface CheckOptions {
  plugs: readonly string[]
  strict?: boolean
  json?: boolean
}

/** Prints the problems of each file; returns 1 if any problem is an ERROR. */
export async function runCheck(paths: readonly string[], options: CheckOptions, terminal: Terminal): Promise<0 | 1> {
  const registry = createRegistry(await loadPlugs(options.plugs))
  const files: RuleFile[] = []
  for (const path of paths) files.push(await readRuleFile(path, registry, { ...options, evaluation: true }))
  if (options.json === true) {
    const list = files.map(({ file, issues }) => ({ file, issues }))
    terminal.out(`${JSON.stringify(list, null, 2)}\n`)
  } else {
    for (const file of files)
      terminal.out(`${[...issueLines(file).map((line) => tinted(line, terminal)), verdict(file)].join('\n')}\n`)
  }
  return files.every((file) => file.rule !== undefined) ? 0 : 1
}

const COLOURS: Readonly<Record<string, Parameters<Terminal['paint']>[0]>> = {
  ERROR: 'red',
  WARNING: 'yellow',
  INFO: 'cyan',
}

export function tinted(line: string, { paint }: Pick<Terminal, 'paint'>): string {
  return line.replace(/^(?:ERROR|WARNING|INFO)/, (word) => paint(COLOURS[word] ?? 'reset', word))
}
