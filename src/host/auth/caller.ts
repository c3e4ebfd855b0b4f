/** Identity of a caller whose credentials were checked. */
import type { Caller, Rights } from '#kernel'

export interface CheckedCaller extends Caller {
  readonly rights: Rights
  /** Time until which the check is valid, in epoch ms */
  readonly until: number
  /** Returns false when the credentials may have changed since their check. */
  readonly isCurrent?: () => boolean
  /** Id of the secret that was checked */
  readonly secretId?: string
  /** Time at which the credentials end, in epoch ms */
  readonly ends?: number
  /**
   * Checks again, without the secret. Returns undefined for credentials that have been revoked or have expired. Absent:
   * they cannot be revoked
   */
  readonly again?: () => Promise<CheckedCaller | undefined>
  readonly session?: { readonly id: string; readonly csrf: string }
}

export interface SessionCaller extends CheckedCaller {
  readonly session: { readonly id: string; readonly csrf: string }
  readonly ends: number
}

export function isOfSession(caller: CheckedCaller): caller is SessionCaller {
  return caller.session !== undefined
}
