/** Formats errors of the service with the texts that clients expect, as `{ statusCode, error, code, details? }`. */
import { AppError, type Issue, makeIssue } from '#kernel'
import { issueLine, type Refusal } from '#services/shared'

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

export interface WireFailure {
  readonly schemaPath: string
  readonly errors: Readonly<Record<string, never>>
  readonly keyword: string
  readonly msgs: readonly string[]
  /** The invalid value; absent if the value is missing or too large. */
  readonly value?: unknown
  readonly instancePath: string
}

export function resourcesErrorBody({ statusCode, error, code, issues }: Refusal): object {
  const [first] = issues
  if (first === undefined || code === 'CONFLICT') return { statusCode, error, code }
  return { statusCode, error: issueLine(first), code, details: issues.map(wireFailure) }
}

const LONGEST_VALUE = 1_000

function wireFailure(issue: Issue): WireFailure {
  const { path, message, suggestion, details = {} } = issue
  const { keyword, value } = details
  const isShort = value !== undefined && (JSON.stringify(value)?.length ?? Infinity) <= LONGEST_VALUE
  return {
    schemaPath: '#',
    errors: {},
    keyword: typeof keyword === 'string' ? keyword : 'format',
    msgs: [suggestion === undefined ? message : `${message} (${suggestion})`],
    ...(isShort && { value }),
    instancePath: path === '' ? '/' : path,
  }
}
