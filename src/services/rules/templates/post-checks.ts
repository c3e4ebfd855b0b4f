/** What a rule or template that is posted is refused for, and what the answer tells of it. */
import { type Issue, validationError } from '#kernel'
import { wireIssue } from '../error-body.ts'
import type { WireIssue } from '../shared-schema.ts'

export interface PostOptions {
  /** warnings refuse it, as errors do; notes (severity `INFO`) do not */
  readonly failOnWarning?: boolean
  /** properties that their plugs do not declare refuse it */
  readonly strict?: boolean
  /** the answer lists all warnings and notes; without it only those that nobody would come to ask for */
  readonly returnWarnings?: boolean
}

/** What waits for ever, or goes by a default instead of what was written, looks like what works. */
const TOLD: ReadonlySet<string> = new Set(['START', 'UNKNOWN_PROPERTY'])

/** The warnings of an answer. Throws `VALIDATION` for warnings that are to refuse it. `subject`: what was posted. */
export function toldOf(
  subject: string,
  issues: readonly Issue[],
  { failOnWarning = false, returnWarnings = false }: PostOptions,
): { readonly warnings?: readonly WireIssue[] } {
  if (failOnWarning) refuseWarnings(subject, issues)
  const told = returnWarnings ? issues : issues.filter(({ severity, type }) => severity === 'WARNING' && TOLD.has(type))
  return returnWarnings || told.length > 0 ? { warnings: told.map(wireIssue) } : {}
}

function refuseWarnings(subject: string, issues: readonly Issue[]): void {
  const warnings = issues.filter(({ severity }) => severity === 'WARNING')
  if (warnings.length === 0) return
  throw validationError(
    subject,
    warnings.map((issue) => ({ ...issue, severity: 'ERROR' as const })),
  )
}
