/** Handles the warnings of a posted rule or template: refuses the post, or returns the warnings. */
import { type Issue, validationError } from '#kernel'
import { wireIssue } from '../error-body.ts'
import type { WireIssue } from '../shared-schema.ts'

export interface DraftOptions {
  /** store a version that runs only in rehearsals and roll-outs */
  readonly draft?: boolean
  /** why the version is made */
  readonly note?: string
}

export interface NoteOptions {
  /** why the task is changed */
  readonly note?: string
}

export interface PostOptions {
  /** refuse the post if it has warnings; notes (severity `INFO`) do not count */
  readonly failOnWarning?: boolean
  /** refuse the post if it has properties that its plugs do not declare */
  readonly strict?: boolean
  /** return all warnings and notes; otherwise only the types that users would not think to check for */
  readonly returnWarnings?: boolean
}

/** A rule that never starts, or that silently uses a default, looks as if it worked. */
const UNEXPECTED: ReadonlySet<string> = new Set(['START', 'UNKNOWN_PROPERTY'])

/** Returns the warnings for the response. Throws `VALIDATION` if they refuse the body. `subject`: what was posted. */
export function warningsOf(
  subject: string,
  issues: readonly Issue[],
  { failOnWarning = false, returnWarnings = false }: PostOptions,
): { readonly warnings?: readonly WireIssue[] } {
  if (failOnWarning) refuseWarnings(subject, issues)
  const shown = returnWarnings
    ? issues
    : issues.filter(({ severity, type }) => severity === 'WARNING' && UNEXPECTED.has(type))
  return returnWarnings || shown.length > 0 ? { warnings: shown.map(wireIssue) } : {}
}

function refuseWarnings(subject: string, issues: readonly Issue[]): void {
  const warnings = issues.filter(({ severity }) => severity === 'WARNING')
  if (warnings.length === 0) return
  throw validationError(
    subject,
    warnings.map((issue) => ({ ...issue, severity: 'ERROR' as const })),
  )
}
