/** Reads the tasks that a worker publishes from a folder of rules. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type PlugRegistry, type TaskSettings, type Template, validateRule, validateTemplate } from '#core'
import { AppError, describeIssue, isPlainObject, type Issue, messageOf } from '#kernel'
import type { PublishedTask } from '#kafka'
import { documentAt } from './rule-files/folder.ts'

type Found = readonly { readonly path: string; readonly document: Readonly<Record<string, unknown>> }[]

/**
 * Reads `templates/` and `tasks/` as `reflexarc rules pull` writes them, and rules directly in the folder, whose file
 * name is their id. Throws one `USAGE` with the problems of all files.
 */
export async function tasksInFolder(folder: string, plugs: PlugRegistry): Promise<readonly PublishedTask[]> {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new AppError('USAGE', `--rules-from: ${folder} is not a folder; use a form such as ./rules`)
  const problems: string[] = []
  const templates = new Map<string, Template>()
  const tasks = new Map<string, PublishedTask>()
  const check = (path: string, issues: readonly Issue[]): void => {
    for (const issue of issues) if (issue.severity === 'ERROR') problems.push(`${path}: ${describeIssue(issue)}`)
  }
  const add = (path: string, task: PublishedTask): void => {
    if (tasks.has(task.id)) problems.push(`${path}: the name ${JSON.stringify(task.id)} is taken by another file`)
    tasks.set(task.id, task)
  }
  const addRule = (path: string, id: string, document: unknown): void => {
    const { rule, issues } = validateRule(document, plugs)
    check(path, issues)
    if (rule !== undefined) add(path, { id, source: rule, settings: {} })
  }
  for (const { path, document } of await documents(join(folder, 'templates'), problems)) {
    const { template, issues } = validateTemplate(document, plugs)
    check(path, issues)
    const name = document['name']
    if (template !== undefined && typeof name === 'string') templates.set(name, template)
  }
  for (const { path, document } of await documents(join(folder, 'tasks'), problems)) {
    const { template: named, templateVersion: _version, name, ...settings } = document
    const id = typeof name === 'string' ? name : basename(path).replace(/\.\w+$/, '')
    const template = typeof named === 'string' ? templates.get(named) : undefined
    if (named === undefined) addRule(path, id, document)
    else if (template === undefined)
      problems.push(`${path}: \`template\`: ${JSON.stringify(named)} is not in ${folder}/templates`)
    else add(path, { id, source: template, settings: { ...(settings as TaskSettings), name: id } })
  }
  for (const { path, document } of await documents(folder, problems))
    addRule(path, basename(path).replace(/\.\w+$/, ''), document)
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  if (tasks.size === 0)
    throw new AppError(
      'USAGE',
      `--rules-from: ${folder} has no tasks; write a rule with \`task.resource\` into a file of it`,
    )
  return [...tasks.values()]
}

async function documents(folder: string, problems: string[]): Promise<Found> {
  if (!existsSync(folder)) return []
  const found: { path: string; document: Readonly<Record<string, unknown>> }[] = []
  const names = readdirSync(folder).filter((name) => /\.(?:json|ya?ml)$/.test(name) && !name.startsWith('.'))
  for (const name of names.toSorted()) {
    const path = join(folder, name)
    try {
      const document = await documentAt(path)
      if (isPlainObject(document)) found.push({ path, document })
    } catch (error) {
      problems.push(`${path}: ${messageOf(error)}`)
    }
  }
  return found
}
