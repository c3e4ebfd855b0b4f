/** Formats errors of the broker as `{ error, details? }`. */
import { issueLine, type Refusal } from '#services/shared'

export interface BrokerErrorBody {
  readonly error: string
  /** each in the form `<JSON pointer> <- <problem>` */
  readonly details?: readonly string[]
}

export function brokerErrorBody({ error, issues }: Pick<Refusal, 'error' | 'issues'>): BrokerErrorBody {
  return issues.length === 0 ? { error } : { error, details: issues.map(issueLine) }
}
