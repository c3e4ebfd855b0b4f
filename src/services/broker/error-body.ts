/** The shape in which the broker reports errors: `{ error, details? }`. */
import type { Issue } from '../../kernel/errors.ts'

export interface BrokerErrorBody {
  readonly error: string
  /** each `<JSON pointer> <- <what is wrong>` */
  readonly details?: readonly string[]
}

/** The body of a refused request, and the frame that answers a bad frame. */
export function brokerErrorBody(refusal: {
  readonly error: string
  readonly issues: readonly Issue[]
}): BrokerErrorBody {
  const { error, issues } = refusal
  return issues.length === 0 ? { error } : { error, details: issues.map(detailOf) }
}

function detailOf({ path, message, suggestion }: Issue): string {
  return `${path === '' ? '/' : path} <- ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`
}
