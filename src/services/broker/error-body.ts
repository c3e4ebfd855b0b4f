/** The shape in which the broker reports errors: `{ error, details? }`. */
import { issueLine, type Refusal } from '#services/shared'

export interface BrokerErrorBody {
  readonly error: string
  /** each `<JSON pointer> <- <what is wrong>` */
  readonly details?: readonly string[]
}

/** The body of a refused request, and the frame that answers a bad frame. */
export function brokerErrorBody({ error, issues }: Pick<Refusal, 'error' | 'issues'>): BrokerErrorBody {
  return issues.length === 0 ? { error } : { error, details: issues.map(issueLine) }
}
