/** Identity of a caller. */
export interface Caller {
  readonly tenant: string
  readonly user: string
}

/** Caller with the time until which its check is valid, in epoch ms. */
export interface CheckedCaller extends Caller {
  readonly until: number
  readonly keyVersion?: number
  /** Returns false when the credentials may have changed since their check. */
  readonly isCurrent?: () => boolean
}
