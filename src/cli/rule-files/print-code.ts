/** `reflexarc rules code FILE`: prints a valid rule or template as code. */
import { createRegistry } from '#core'
import { loadPlugs } from '#host/load-plugs'
import { issueLines, readRuleFile, verdict } from '../rule-file.ts'
import type { Terminal } from '../terminal.ts'
import { ruleCode } from './rule-code.ts'

/** Returns 1, and prints the problems, for an invalid rule. */
export async function runRuleCode(path: string, plugs: readonly string[], terminal: Terminal): Promise<0 | 1> {
  const file = await readRuleFile(path, createRegistry(await loadPlugs(plugs)))
  if (file.rule === undefined) {
    terminal.err(`${[...issueLines(file), verdict(file)].join('\n')}\n`)
    return 1
  }
  terminal.out(ruleCode(file.rule))
  return 0
}
