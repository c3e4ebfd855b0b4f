/**
 * Problems of a task by their path in the request: they are found in the rule made of a template and a request, and may
 * belong to either.
 */
import { overriddenAt } from '#core/spi'
import type { Rule, TaskSettings, Template } from '#core'
import { at, type Issue, movedTo, ownValue, stepsOf } from '#kernel'

export interface SentRequest {
  /** the sent settings, and their path in the body */
  readonly settings: TaskSettings
  readonly at: string
  /** the stored template, or the task with its rule */
  readonly stored: Template | Rule
  /** name of the stored part; undefined: it is in the request, at `ownerPath` */
  readonly owner: string | undefined
  /** path of the field that names or holds it; `''` without one */
  readonly ownerPath: string
}

/** `isStoredWrong`: the stored part is invalid by itself, so nothing of the request was checked. */
export function inRequest(issue: Issue, request: SentRequest, isStoredWrong = false): Issue {
  if (isStoredWrong) return ofStored(issue, issue.path, request)
  const path = pathInRequest(issue.path, request)
  if (path !== undefined) return movedTo(issue, `${request.at}${path}`)
  // a problem of the settings comes from the defaults
  const defaults = 'task' in request.stored ? '/task' : '/taskDefaults'
  const stored = issue.path.replace(/^\/task(?=\/)|^(?=\/variables\/)/, defaults)
  return ofStored(issue, stored, request)
}

/** Undefined: the path is not part of the request. */
function pathInRequest(path: string, { stored, settings }: SentRequest): string | undefined {
  const { task, taskDefaults = task }: Partial<Template & Rule> = stored
  const [list, ...rest] = stepsOf(path)
  const field = rest[0] ?? ''
  switch (list) {
    case undefined:
    case 'nodes':
      return path
    case 'task':
      return isLeftTo(taskDefaults, settings, field) ? undefined : at('', ...rest)
    case 'variables':
      return isLeftTo(taskDefaults?.variables, settings.variables, field) ? undefined : path
    case 'sensors':
    case 'actuators':
      return overriddenAt(stored, settings.nodes ?? [], '/nodes', path)
    default:
      return undefined
  }
}

function isLeftTo(defaults: unknown, sent: unknown, field: string): boolean {
  return ownValue(sent, field) === undefined && ownValue(defaults, field) !== undefined
}

function ofStored(issue: Issue, path: string, { owner, ownerPath }: SentRequest): Issue {
  if (owner === undefined) return movedTo(issue, `${ownerPath}${path}`)
  const { fix: _fix, ...kept } = issue
  const { message, details, suggestion } = kept
  const canOverride = /^\/(?:sensors|actuators)\//.test(path)
  return {
    ...kept,
    path: ownerPath,
    message: `${owner} has at ${path}: ${message}`,
    details: { ...details, path },
    ...(suggestion !== undefined && { suggestion: `${suggestion}${canOverride ? ', there or in "nodes"' : ''}` }),
  }
}
