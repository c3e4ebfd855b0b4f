/** Refusals of the service in the words that clients know. */
import { AppError, type Issue, makeIssue } from '#kernel'

export function resourceNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `No resource with id ${id}`)
}

export function typeNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `No type with id ${id}`)
}

export function constraintNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `No ResourceConstraint with id '${id}'`)
}

export function resourceExists(id: string): AppError {
  return new AppError('CONFLICT', `Existing resource entry with id ${id}`)
}

export function typeExists(id: string): AppError {
  return new AppError('CONFLICT', `Existing ResourceType entry with id ${id}`)
}

export function resourceInUse(count: number): AppError {
  return new AppError('WRONG_STATUS', `Resource is still parent of or referenced by ${count} resource(s)`)
}

export function typeInUse(count: number): AppError {
  return new AppError('WRONG_STATUS', `Type in use by ${count} resource(s)`)
}

export function constraintInUse(id: string): AppError {
  return new AppError('WRONG_STATUS', `ResourceConstraint '${id}' is in use`)
}

export function busyType(id: string): AppError {
  return new AppError('CONFLICT', `An operation is already busy on ${id}`)
}

export function problem(path: string, message: string, suggestion?: string): Issue {
  return makeIssue('ATTRIBUTE', path, message, suggestion)
}
