/** Errors with which a plug limits the retries of a failed call, and their form as the result of a call. */
import { AppError, messageOf } from '#kernel'
import type { BadAnswer } from './result.ts'

export interface RetryLimits {
  /** true: a retry would fail in the same way, so none is made */
  readonly isFinal?: boolean
  /** minimum wait before a retry, ms; a wait never exceeds the longest backoff of the node */
  readonly retryAfter?: number
}

/** A failed call, with code `PLUG_FAILED`, that states whether and when to retry it. */
export class CallError extends AppError {
  readonly isFinal: boolean
  readonly retryAfter: number | undefined

  constructor(message: string, { isFinal = false, retryAfter }: RetryLimits = {}) {
    super('PLUG_FAILED', message)
    this.isFinal = isFinal
    this.retryAfter = retryAfter
  }
}

/** Converts a thrown value to the result of a failed call. Reads the limits of any error with these fields. */
export function failedAnswer(thrown: unknown): BadAnswer {
  const error = messageOf(thrown)
  if (!(thrown instanceof Error)) return { ok: false, error }
  const { isFinal, retryAfter } = limitsOf(thrown)
  if (isFinal === true) return { ok: false, error, isFinal }
  return isWait(retryAfter) ? { ok: false, error, retryAfter } : { ok: false, error }
}

function limitsOf(error: Error & { readonly isFinal?: unknown; readonly retryAfter?: unknown }): {
  readonly isFinal?: unknown
  readonly retryAfter?: unknown
} {
  try {
    return { isFinal: error.isFinal, retryAfter: error.retryAfter }
  } catch {
    return {}
  }
}

function isWait(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}
