/** Writes the parts of the documents that are made of the code: `npm run docs`. test/docs.test.ts fails while one differs. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { markedPart } from '../test/support/read-markdown.ts'
import { readText, root } from '../test/support/repository.ts'
import { invariantTable } from './docs/invariants.ts'
import {
  alarmTable,
  commandReference,
  decisionList,
  errorTable,
  eventReference,
  issueTable,
  memberTable,
  optionTable,
  plugReference,
  wallsTable,
  whyReference,
} from './docs/tables.ts'

const RULE = 'src/core/rule/rule.ts'

/** What stands between `<!-- mark:start -->` and `<!-- mark:end -->` of a page, by page and mark. */
export const GENERATED: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  'docs/reference/rule.md': {
    rule: () => memberTable(RULE, 'RuleGraph'),
    node: () => memberTable(RULE, 'PlugNode'),
    sensor: () => memberTable(RULE, 'Sensor'),
    group: () => memberTable(RULE, 'Group'),
    window: () => memberTable(RULE, 'Window'),
    retries: () => memberTable(RULE, 'RetryConfig'),
    relation: () => memberTable(RULE, 'Relation'),
    trigger: () => memberTable(RULE, 'Trigger'),
    change: () => memberTable(RULE, 'StateChange'),
    task: () => memberTable(RULE, 'TaskSettings'),
    dst: () => memberTable(RULE, 'DstPolicy'),
    template: () => memberTable(RULE, 'Template'),
    variable: () => memberTable(RULE, 'VariableDeclaration'),
    override: () => memberTable(RULE, 'NodeOverride'),
    plug: () => memberTable(RULE, 'PlugOverride'),
  },
  'docs/reference/plugs.md': { plugs: plugReference },
  'docs/reference/requests.md': { alarm: alarmTable },
  'docs/reference/options.md': {
    host: optionTable,
    engine: () => memberTable('src/core/engine/api.ts', 'EngineOptions'),
  },
  'docs/reference/errors.md': { errors: errorTable, issues: issueTable },
  'docs/reference/events.md': {
    every: () => memberTable('src/core/engine/events.ts', 'Base'),
    events: eventReference,
    why: whyReference,
  },
  'docs/reference/command-line.md': { commands: commandReference },
  'docs/reference/walls.md': { walls: wallsTable },
  'docs/reference/invariants.md': { invariants: invariantTable },
  'docs/decisions/README.md': { decisions: decisionList },
}

/** A page with its generated parts as they should be. Throws when it has no place for one. */
export async function renewed(page: string): Promise<string> {
  let text = readText(page)
  for (const [mark, make] of Object.entries(GENERATED[page] ?? {})) {
    const [start, end] = [`<!-- ${mark}:start -->`, `<!-- ${mark}:end -->`]
    if (markedPart(text, mark) === undefined)
      throw new Error(`${page}: write ${start} and ${end}, each on its own line`)
    const [before] = text.split(start, 1)
    text = `${before}${start}\n\n${await make()}\n\n${text.slice(text.indexOf(end))}`
  }
  return text
}

if (import.meta.main) for (const page of Object.keys(GENERATED)) writeFileSync(join(root, page), await renewed(page))
