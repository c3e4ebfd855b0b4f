/** A failing case as files that `reflexarc simulate` replays. The only place of the kit that touches a disk. */
import type { Rule, TaskSettings, Template } from '../core/rule/rule.ts'
import { encodeNumbers } from '../core/task/json-numbers.ts'
import { untilOf, type CaseOptions, type RunCase } from './checked-run.ts'
import { instantText } from './moment-text.ts'

export interface WrittenCase {
  readonly rule: string
  readonly messages: string
  /** the arguments of `reflexarc` */
  readonly command: readonly string[]
}

/** Writes `<path>.rule.json` and `<path>.ndjson`; folders on the way are made. */
export async function writeCase(path: string, one: RunCase, options: CaseOptions): Promise<WrittenCase> {
  const { mkdir, writeFile } = await import('node:fs/promises')
  const { dirname } = await import('node:path')
  const files = { rule: `${path}.rule.json`, messages: `${path}.ndjson` }
  await mkdir(dirname(path), { recursive: true })
  await writeFile(files.rule, `${JSON.stringify(withSettings(one.rule, options), null, 2)}\n`)
  const lines = one.messages.map((message) => `${JSON.stringify(encodeNumbers(message))}\n`)
  await writeFile(files.messages, lines.join(''))
  const until = instantText(untilOf(one.messages, options.tail))
  const command = ['simulate', files.rule, '--messages', files.messages, '--late', '--until', until, '--why']
  return { ...files, command }
}

/** The rule with what the options add to it, so that it runs by itself. */
export function withSettings(rule: Rule | Template, options: CaseOptions): Rule | Template {
  const merge = (own: TaskSettings = {}): TaskSettings => {
    const variables = { ...own.variables, ...options.settings?.variables, ...options.variables }
    return {
      ...own,
      ...options.settings,
      ...(options.resource !== undefined && { resource: options.resource }),
      ...(Object.keys(variables).length > 0 && { variables }),
    }
  }
  return 'name' in rule ? { ...rule, taskDefaults: merge(rule.taskDefaults) } : { ...rule, task: merge(rule.task) }
}
