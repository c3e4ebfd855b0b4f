/** What `check` does. */
import { createRegistry } from '#core'
import { loadPlugs } from '#host/load-plugs'
import { issueLines, readRuleFile, verdict, type RuleFile } from './rule-file.ts'
import type { Terminal } from './terminal.ts'

export interface CheckOptions {
  plugs: readonly string[]
  strict?: boolean
  json?: boolean
}

/** Prints what is wrong with each file, and gives 1 when one of them has an ERROR. */
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

/** The severity in colour, where there are colours. */
export function tinted(line: string, { paint }: Pick<Terminal, 'paint'>): string {
  return line.replace(/^(?:ERROR|WARNING|INFO)/, (word) => paint(COLOURS[word] ?? 'reset', word))
}
