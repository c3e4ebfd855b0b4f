/** Converts schema errors to issues with paths. */
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { at, type Issue, makeIssue } from '#kernel'

/** Maximum number of reported issues: a body can have as many problems as bytes. */
const MAX_ISSUES = 100

/** `part`: the validated part of the request: body, querystring, params or headers. */
export function schemaIssues(errors: readonly FastifySchemaValidationError[], part: string): readonly Issue[] {
  const issues = errors.filter(({ keyword }) => !SILENT.has(keyword)).map((error) => issueOf(error, part))
  const shown = issues.length > 0 ? issues : errors.map((error) => issueOf(error, part))
  const distinct = new Map(shown.map((issue) => [`${issue.path} ${issue.message}`, issue]))
  return [...distinct.values()].slice(0, MAX_ISSUES)
}

/** Keywords that only repeat a failure of a neighbouring keyword. */
const SILENT: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'if'])

function issueOf(error: FastifySchemaValidationError, part: string): Issue {
  const { keyword, instancePath, params } = error
  const issue = (path: string, message: string): Issue => makeIssue('SCHEMA', path, message)
  switch (keyword) {
    case 'required':
      return issue(at(instancePath, String(params['missingProperty'])), 'is missing')
    case 'additionalProperties':
      return issue(at(instancePath, String(params['additionalProperty'])), `is not known here${of(part)}`)
    case 'type':
      return issue(instancePath, `${article(params['type'])} is expected`)
    case 'enum':
      return issue(instancePath, `must be one of ${listed(params['allowedValues'])}`)
    case 'const':
      return issue(instancePath, `must be ${JSON.stringify(params['allowedValue'])}`)
    default:
      return issue(instancePath, error.message ?? `does not fit "${keyword}"`)
  }
}

function of(part: string): string {
  return part === 'querystring' ? ', in the query' : part === 'headers' ? ', in the headers' : ''
}

function article(type: unknown): string {
  const types = Array.isArray(type) ? type.map(String) : [String(type)]
  const named = types.map((one) => (one === 'null' ? 'null' : `${/^[aio]/.test(one) ? 'an' : 'a'} ${one}`))
  return named.join(' or ')
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.map(String).join(', ') : String(values)
}
