/**
 * Problems of a task, told to whoever asked for it. They are found in the rule that a template and a
 * request give together; here each gets its path in the body that was sent, or says that it is in what is stored.
 */
import { overriddenAt } from '#core/spi'
import type { Rule, TaskSettings, Template } from '#core'
import { at, type Issue, movedTo, ownValue, stepsOf } from '#kernel'

/** A request, and what it was for. */
export interface SentRequest {
  /** what was sent, and where in the body it stands */
  readonly settings: TaskSettings
  readonly place: string
  /** what is stored already: a template, or a task with its rule */
  readonly stored: Template | Rule
  /** how that is called; undefined: it came with the request, at `ownerPath` */
  readonly owner: string | undefined
  /** the field of the body that names or holds it, as a path; `''` when none does */
  readonly ownerPath: string
}

/** `isStoredWrong`: what is stored is refused by itself, so that nothing of the request was looked at. */
export function inRequest(issue: Issue, request: SentRequest, isStoredWrong = false): Issue {
  if (isStoredWrong) return ofStored(issue, issue.path, request)
  const path = pathInRequest(issue.path, request)
  if (path !== undefined) return movedTo(issue, `${request.place}${path}`)
  // what is wrong with the settings of the task came from the defaults
  const defaults = 'task' in request.stored ? '/task' : '/taskDefaults'
  const stored = issue.path.replace(/^\/task(?=\/)|^(?=\/variables\/)/, defaults)
  return ofStored(issue, stored, request)
}

/** Undefined: what stands at the path was not sent. */
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
