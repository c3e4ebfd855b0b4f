/** Warnings of a posted rule or template: refused, or returned. */
import { type Issue, validationError } from '#kernel'
import { wireIssue } from '../error-body.ts'
import type { WireIssue } from '../shared-schema.ts'

export interface PostOptions {
  /** warnings refuse it, as errors do; notes (severity `INFO`) do not */
  readonly failOnWarning?: boolean
  /** properties that their plugs do not declare refuse it */
  readonly strict?: boolean
  /** the answer lists all warnings and notes; otherwise only types that users would not look for */
  readonly returnWarnings?: boolean
}

/** Rules that never run, or silently use a default, look as if they worked. */
const UNEXPECTED: ReadonlySet<string> = new Set(['START', 'UNKNOWN_PROPERTY'])

/** Warnings of the answer. Throws `VALIDATION` if they refuse the body. `subject`: what was posted. */
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
