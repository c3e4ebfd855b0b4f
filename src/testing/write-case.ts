/** Writes a failing case to files that `reflexarc simulate` replays. No other file of the kit writes to disk. */
import { decodeNumbers, encodeNumbers } from '#kernel'
import type { Rule, TaskSettings, Template } from '#core'
import { untilOf, type CaseOptions, type RunCase } from './checked-run.ts'
import { instantText } from './moment-text.ts'

export interface WrittenCase {
  readonly rule: string
  readonly messages: string
  /** file with the complete case, for `checkCase` */
  readonly file: string
  /** arguments of `reflexarc` */
  readonly command: readonly string[]
  /** parts of the case that the command does not include */
  readonly lacks: readonly string[]
}

/** Writes `<path>.rule.json`, `<path>.ndjson` and `<path>.case.json`, and creates their folders. */
export async function writeCase(path: string, one: RunCase, options: CaseOptions): Promise<WrittenCase> {
  const { mkdir, writeFile } = await import('node:fs/promises')
  const { dirname } = await import('node:path')
  const files = { rule: `${path}.rule.json`, messages: `${path}.ndjson`, file: `${path}.case.json` }
  await mkdir(dirname(path), { recursive: true })
  await writeFile(
    files.rule,
    `${JSON.stringify(withSettings(one.rule, { ...options, variables: { ...options.variables, ...one.variables } }), null, 2)}\n`,
  )
  const lines = one.messages.map((message) => `${JSON.stringify(encodeNumbers(message))}\n`)
  await writeFile(files.messages, lines.join(''))
  await writeFile(files.file, caseText(one))
  const until = instantText(untilOf(one.messages, options.tail))
  const seed = one.seed === undefined || one.seed === 1 ? [] : ['--seed', String(one.seed)]
  const command = [
    'simulate',
    files.rule,
    '--messages',
    files.messages,
    '--order',
    'file',
    '--until',
    until,
    ...seed,
    '--why',
  ]
  const lacks = [
    ...(options.metadata === undefined && one.metadata === undefined ? [] : ['metadata']),
    ...(options.ports === undefined ? [] : ['ports']),
    ...(one.crashes.length === 0 ? [] : ['restarts']),
    'your own plugs (--plugs)',
  ]
  return { ...files, command, lacks }
}

export function caseText(one: RunCase): string {
  return `${JSON.stringify(encodeNumbers(one))}\n`
}

/** Parses a case written by `writeCase` from the text of its `.case.json`. */
export function readCase(text: string): RunCase {
  return decodeNumbers(JSON.parse(text)) as RunCase
}

/** Returns the rule with settings from the options, so that it runs on its own. */
export function withSettings(rule: Rule | Template, options: CaseOptions): Rule | Template {
  const merge = (settings: TaskSettings = {}): TaskSettings => {
    const variables = { ...settings.variables, ...options.settings?.variables, ...options.variables }
    return {
      ...settings,
      ...options.settings,
      ...(options.resource !== undefined && { resource: options.resource }),
      ...(Object.keys(variables).length > 0 && { variables }),
    }
  }
  return 'name' in rule ? { ...rule, taskDefaults: merge(rule.taskDefaults) } : { ...rule, task: merge(rule.task) }
}
