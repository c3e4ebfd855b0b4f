/** Maps the problems of a task to paths in the request; a problem may also belong to the template. */
import { overriddenAt } from '#core/spi'
import type { Rule, TaskSettings, Template } from '#core'
import { at, type Issue, movedTo, ownValue, stepsOf } from '#kernel'

export interface SentRequest {
  readonly settings: TaskSettings
  readonly at: string
  readonly stored: Template | Rule
  /** name of the stored template or task; undefined: the document is in the request, at `ownerPath` */
  readonly owner: string | undefined
  /** path of the field that names or contains the document; `''` if no field does */
  readonly ownerPath: string
}

/** `isStoredWrong`: the stored document is invalid by itself, so the request has not been checked. */
export function inRequest(issue: Issue, request: SentRequest, isStoredWrong = false): Issue {
  if (isStoredWrong) return ofStored(issue, issue.path, request)
  const path = pathInRequest(issue.path, request)
  if (path !== undefined) return movedTo(issue, `${request.at}${path}`)
  // a problem in the settings may come from the defaults of the template
  const defaults = 'task' in request.stored ? '/task' : '/taskDefaults'
  const stored = issue.path.replace(/^\/task(?=\/)|^(?=\/variables\/)/, defaults)
  return ofStored(issue, stored, request)
}

/** Returns undefined if the request does not contain the path. */
function pathInRequest(path: string, { stored, settings }: SentRequest): string | undefined {
  const { task, taskDefaults = task }: Partial<Template & Rule> = stored
  const [list, ...rest] = stepsOf(path)
  const field = rest[0] ?? ''
  switch (list) {
    case undefined:
    case 'nodes':
      return path
    case 'task':
      return isSetByDefaults(taskDefaults, settings, field) ? undefined : at('', ...rest)
    case 'variables':
      return isSetByDefaults(taskDefaults?.variables, settings.variables, field) ? undefined : path
    case 'sensors':
    case 'actuators':
      return overriddenAt(stored, settings.nodes ?? [], '/nodes', path)
    default:
      return undefined
  }
}

function isSetByDefaults(defaults: unknown, sent: unknown, field: string): boolean {
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
