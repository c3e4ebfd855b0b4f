/** Parses the `resource` of a node, and resolves it when a task starts. */
import { AppError, describeIssue, FORBIDDEN_KEYS, isPlainObject, type Issue, messageOf, ownValue } from '#kernel'
import { parseText, useOf, type BindingUse } from './binding.ts'
import { metaFault, metaPath } from './meta.ts'
import { descend } from './read-path.ts'
import type { Scope } from './scope.ts'
import { plainText, planText } from './text.ts'

export type ResourceSpec =
  | { readonly kind: 'literal'; readonly id: string }
  | { readonly kind: 'task' }
  | { readonly kind: 'taskId' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'meta'; readonly path: readonly string[] }
  | { readonly kind: 'text'; readonly text: string; readonly bindings: readonly BindingUse[] }

export interface ResourceScope {
  readonly taskId: string
  readonly taskResource?: string | undefined
  variable(name: string): unknown
  /** metadata of the task's resource, fetched beforehand */
  metadata(): Readonly<Record<string, unknown>> | undefined
}

/**
 * Throws `VALIDATION` for placeholders that can never be resolved: nodes and messages do not exist when a task starts.
 */
export function parseResource(text: string): ResourceSpec {
  if (text.trim() === '') throw invalid('the resource is empty', 'write an id or $ for the task resource, or omit it')
  if (text.includes('${')) return parseMixed(text)
  if (text === '$') return { kind: 'task' }
  if (text === '$taskId') return { kind: 'taskId' }
  if (text.startsWith('$')) {
    const name = text.slice(1)
    if (FORBIDDEN_KEYS.has(name)) throw invalid(`"${text}" uses the reserved name "${name}"`, 'rename the variable')
    return { kind: 'variable', name }
  }
  const path = metaPath(text)
  if (!path) return { kind: 'literal', id: text }
  const fault = metaFault(text, path)
  if (fault) throw invalid(fault.message, fault.suggestion)
  return { kind: 'meta', path }
}

export function resolveResource(spec: ResourceSpec, scope: ResourceScope): string {
  switch (spec.kind) {
    case 'literal':
      return spec.id
    case 'task':
      return (
        scope.taskResource ??
        fail('"$" stands for the task resource, and the task has none', 'start the task with a resource')
      )
    case 'taskId':
      return scope.taskId
    case 'variable':
      return variableId(spec.name, scope)
    case 'meta':
      return metaId(spec.path, scope)
    case 'text':
      return textId(spec.text, scope)
  }
}

function variableId(name: string, scope: ResourceScope): string {
  const value = scope.variable(name)
  if (value === undefined || value === null) {
    fail(`"$${name}" stands for the variable "${name}", which has no value`, `set variables.${name} to a resource id`)
  }
  return idOf(value, `"$${name}"`)
}

function metaId(path: readonly string[], scope: ResourceScope): string {
  const text = `META.$.${path.join('.')}`
  const metadata = scope.metadata()
  if (metadata === undefined) {
    fail(`"${text}" reads the metadata of the task resource, which has none`, 'start the task with a known resource')
  }
  const value = descend(metadata, path, 0)
  if (value === undefined || value === null) {
    const keys = Object.keys(metadata).slice(0, 8).join(', ') || 'nothing'
    fail(`"${text}" is not in the metadata of the task resource, which has ${keys}`, 'add the key, or correct it')
  }
  return idOf(value, `"${text}"`)
}

/** Returns the id in a metadata reference such as `{"$ref": "/resources/<id>"}`; undefined for anything else. */
export function referencedId(value: unknown): string | undefined {
  if (!isPlainObject(value) || ownValue(value, '$ref') === undefined) return undefined
  try {
    return idOf(value, 'the reference')
  } catch {
    return undefined
  }
}

const REFERENCE = /^(?:\/api)?\/resources\/([^/?#]+)\/?$/

function idOf(value: unknown, text: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  const reference = isPlainObject(value) ? ownValue(value, '$ref') : undefined
  const right = 'it should be a resource id, or {"$ref": "/resources/<id>"}'
  const encoded = typeof reference === 'string' ? REFERENCE.exec(reference)?.[1] : undefined
  if (encoded === undefined) fail(`${text} is ${plainText(value).slice(0, 80)}, which is not a resource id`, right)
  try {
    return decodeURIComponent(encoded)
  } catch {
    return fail(`${text} refers to "${encoded}", which is not percent-encoded properly`, right)
  }
}

const AT_START = new Set(['TASK_ID', 'RESOURCE', 'resource'])

function parseMixed(text: string): ResourceSpec {
  const parsed = parseText(text)
  const issues = parsed.faults.map(({ message, suggestion }) => issue(message, suggestion))
  const bindings = parsed.parts.flatMap((part) => (typeof part === 'string' ? [] : [useOf(part, '')]))
  for (const use of bindings) {
    const known = use.root === 'variables' || (use.root === 'task' && AT_START.has(use.segments[0] ?? ''))
    if (known) continue
    const right = 'use task.TASK_ID, task.RESOURCE, task.resource.meta.<key> or variables.<name>'
    issues.push(issue(`${use.text} is not known when the task starts`, right))
  }
  if (issues.length > 0) throw new AppError('VALIDATION', issues.map(describeIssue).join('\n'), { issues })
  return { kind: 'text', text, bindings }
}

function textId(text: string, scope: ResourceScope): string {
  const plan = planText(parseText(text), '')
  let value: unknown
  try {
    value = plan.constant ? plan.value : plan.evaluate(startScope(scope))
  } catch (error) {
    throw new AppError('RESOLUTION', `resource "${text}": ${messageOf(error)}`, { cause: error })
  }
  if (value === undefined || value === '')
    fail(`resource "${text}" results in an empty id`, 'set the values of its placeholders')
  return typeof value === 'number' ? String(value) : idOf(value, `resource "${text}"`)
}

function startScope(scope: ResourceScope): Scope {
  const metadata = () => scope.metadata()
  return {
    nodeData: () => undefined,
    streamValue: () => undefined,
    isNew: () => false,
    taskId: scope.taskId,
    taskResource: scope.taskResource,
    nodeName: '',
    nodeResource: undefined,
    taskMetadata: metadata,
    nodeMetadata: metadata,
    variable: (name) => scope.variable(name),
    secret: () => undefined,
    loopItem: () => undefined,
  }
}

function issue(message: string, suggestion: string): Issue {
  return { path: '', message, suggestion, severity: 'ERROR', type: 'RESOURCE' }
}

function invalid(message: string, suggestion: string): AppError {
  return new AppError('VALIDATION', `${message}; ${suggestion}`, { issues: [issue(message, suggestion)] })
}

function fail(message: string, suggestion: string): never {
  throw new AppError('RESOLUTION', `${message}; ${suggestion}`, { issues: [issue(message, suggestion)] })
}
