/** Reads the body of a task, in any of its four forms. */
import { type PlugRegistry, type Rule, type TaskSettings, validateRule } from '#core'
import {
  type CheckOptions,
  isBnDocument,
  type TaskFromTemplate,
  TaskSettingsSchema,
  validateTaskRequest,
} from '#core/spi'
import { isPlainObject, type Issue, makeIssue, movedTo, validationError } from '#kernel'
import type { TaskForm } from './task-record.ts'
import { MAX_TASK_NAME } from './task-schema.ts'

export type ReadSpecification =
  | { readonly form: 'template'; readonly request: TaskFromTemplate; readonly warnings: readonly Issue[] }
  | { readonly form: Exclude<TaskForm, 'template'>; readonly rule: Rule; readonly warnings: readonly Issue[] }

export function readSpecification(input: unknown, plugs: PlugRegistry, options: CheckOptions = {}): ReadSpecification {
  if (isPlainObject(input) && Object.hasOwn(input, 'template')) return readRequest(input)
  if (isPlainObject(input) && Object.hasOwn(input, 'network')) return readNetwork(input, plugs, options)
  const isBn = isPlainObject(input) && isBnDocument(input)
  const document = isBn ? withNameOfGraph(input) : input
  const { rule, issues } = validateRule(document, plugs, options)
  const all = [...issues, ...nameIssues(isPlainObject(document) ? document['task'] : {}, '/task/name')]
  refuseErrors('the rule', all)
  return { form: isBn ? 'bn' : 'simplified', rule: rule ?? {}, warnings: all }
}

function readRequest(input: Readonly<Record<string, unknown>>): ReadSpecification {
  const { request, issues } = validateTaskRequest(input)
  const all = [...issues, ...nameIssues(input, '/name')]
  refuseErrors('the task', all)
  if (request === undefined) throw validationError('the task', all)
  return { form: 'template', request, warnings: all }
}

/** In the old form, the graph is part of the settings. */
function readNetwork(
  input: Readonly<Record<string, unknown>>,
  plugs: PlugRegistry,
  options: CheckOptions,
): ReadSpecification {
  const { network, ...settings } = input
  if (!isPlainObject(network)) {
    const message = 'network must be an object with nodes and posterior'
    throw validationError('the task', [makeIssue('TYPE', '/network', message)])
  }
  const { name, ...graph } = network
  const task = settings['name'] === undefined && name !== undefined ? { ...settings, name } : settings
  const { rule, issues } = validateRule({ ...graph, task }, plugs, options)
  const found = issues.map((issue) =>
    movedTo(issue, issue.path.startsWith('/task') ? issue.path.slice('/task'.length) : `/network${issue.path}`),
  )
  const all = [...found, ...nameIssues(task, '/name')]
  refuseErrors('the task', all)
  return { form: 'network', rule: rule ?? {}, warnings: all }
}

/** Picks the settings from the fields of a request; each unknown field causes a warning. */
export function settingsOf(request: TaskFromTemplate): TaskSettings {
  const known = new Set(Object.keys(TaskSettingsSchema.properties))
  return Object.fromEntries(Object.entries(request).filter(([key]) => known.has(key)))
}

function withNameOfGraph(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { name, task = {} } = document
  if (typeof name !== 'string' || !isPlainObject(task) || task['name'] !== undefined) return document
  return { ...document, task: { ...task, name } }
}

function nameIssues(settings: unknown, path: string): readonly Issue[] {
  const name = isPlainObject(settings) ? settings['name'] : undefined
  const bytes = typeof name === 'string' ? Buffer.byteLength(name) : 0
  if (bytes > MAX_TASK_NAME) {
    const message = `the name has ${bytes} bytes, more than ${MAX_TASK_NAME}`
    return [makeIssue('TOO_LARGE', path, message, 'choose a shorter name')]
  }
  if (name !== undefined && name !== null && name !== '') return []
  return [makeIssue('TASK', path, 'the task has no name', 'write "name": "my task"')]
}

function refuseErrors(subject: string, issues: readonly Issue[]): void {
  if (issues.some(({ severity }) => severity === 'ERROR')) throw validationError(subject, issues)
}
