/** Error messages and codes shared by parts of the service. */
import { AppError, makeIssue } from '#kernel'
import type { PlugFamily } from './tools/tools-schema.ts'

export const DUPLICATE_TEMPLATE = 'TEMPLATE_NAME'
export const NAME_MISMATCH = 'NAME_MISMATCH'

export function taskNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `Task with id ${id} not found`)
}

export function noTaskWithId(id: string): AppError {
  return new AppError('NOT_FOUND', `No task with id ${id}`)
}

export function templateVersionNotFound(name: string, version: number, newest: number): AppError {
  return new AppError('NOT_FOUND', noVersion(name, version, newest))
}

export function unknownTemplateVersion(name: string, version: number, newest: number): AppError {
  return invalid(noVersion(name, version, newest), 'TEMPLATE', '/templateVersion')
}

export function unpublished(name: string, version: number): AppError {
  const right = 'rehearse it, or publish it first'
  return invalid(`version ${version} of template ${name} is a draft; ${right}`, 'TEMPLATE', '/templateVersion')
}

function noVersion(name: string, version: number, newest: number): string {
  const kept = `/api/templates/${encodeURIComponent(name)}/versions`
  return `No version ${version} of template ${name}; its newest is ${newest}, GET ${kept} lists the kept ones`
}

/** Makes the error for an unknown template in a body: an invalid body rather than a wrong address. */
export function unknownTemplate(name: string): AppError {
  return invalid(`No template with name ${name}`, 'TEMPLATE', '/template')
}

export function duplicateTemplate(name: string): AppError {
  return invalid(`A template with name '${name}' already exists`, DUPLICATE_TEMPLATE, '/name')
}

export function notPossible(action: 'start' | 'stop', status: string): AppError {
  return new AppError('WRONG_STATUS', `Not possible to apply action ${action}, for the task in status ${status}`)
}

export function removeRefused(status: string): AppError {
  return new AppError('WRONG_STATUS', `Not possible to remove task in status ${status}`)
}

export function plugNotFound(family: PlugFamily, name: string, version?: string): AppError {
  const kind = family === 'sensors' ? 'Sensor' : 'Actuator'
  return new AppError('NOT_FOUND', `${kind} ${name}${version === undefined ? '' : `:${version}`} not found`)
}

export function invalid(message: string, type: string, path: string): AppError {
  return new AppError('VALIDATION', message, { issues: [makeIssue(type, path, message)] })
}
