import { createRegistry } from '../../core/plug/registry.ts'
import { gather, type DefineCommand } from './command.ts'
import { loadPlugs } from './load-plugs.ts'
import { issueLines, readRuleFile, verdict, type RuleFile } from './rule-file.ts'
import type { Terminal } from './terminal.ts'

interface CheckOptions {
  plugs: readonly string[]
  json?: boolean
}

/** `reflexarc check RULE...`: every problem of rule or template files at once; exit code 1 when there is an ERROR. */
export const defineCheck: DefineCommand = (program, start) => {
  program
    .command('check')
    .summary('say what is wrong with rules and templates, all at once')
    .description(
      'Checks rule or template files and prints every problem at once: where, what is wrong, what would be right.',
    )
    .argument('<rule...>', 'JSON files; - is standard input')
    .option('--plugs <file>', 'ES module that exports plugs made by definePlug (repeatable)', gather, [])
    .option('--json', 'print [{ file, issues }]')
    .addHelpText('after', '\nExample:\n  reflexarc check fixtures/rules/overheating.json')
    .action((files: readonly string[], options: CheckOptions) => start((terminal) => check(files, options, terminal)))
}

async function check(paths: readonly string[], options: CheckOptions, terminal: Terminal): Promise<0 | 1> {
  const registry = createRegistry(await loadPlugs(options.plugs))
  const files: RuleFile[] = []
  for (const path of paths) files.push(await readRuleFile(path, registry))
  if (options.json === true) {
    const list = files.map(({ file, issues }) => ({ file, issues }))
    terminal.out(`${JSON.stringify(list, null, 2)}\n`)
  } else {
    for (const file of files)
      terminal.out(`${[...issueLines(file).map((line) => tinted(line, terminal)), verdict(file)].join('\n')}\n`)
  }
  return files.every((file) => file.rule !== undefined) ? 0 : 1
}

/** The severity in colour, where there are colours. */
export function tinted(line: string, { paint }: Pick<Terminal, 'paint'>): string {
  return line.replace(/^(?:ERROR|WARNING)/, (word) => paint(word === 'ERROR' ? 'red' : 'yellow', word))
}
