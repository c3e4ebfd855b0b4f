/** The shape in which the resources service reports errors: `{ statusCode, error, code, details? }`. */
import type { Issue } from '#kernel'
import { issueLine, type Refusal } from '#services/shared'

/** One problem of an attribute, with the keyword of JSON Schema that it failed. */
export interface WireFailure {
  readonly schemaPath: string
  readonly errors: Readonly<Record<string, never>>
  readonly keyword: string
  readonly msgs: readonly string[]
  /** what failed; absent when it is missing, or too large to be repeated */
  readonly value?: unknown
  readonly instancePath: string
}

/** The text is that of the first problem; the others are among the details. */
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
