/** Identity of a caller. */
export interface Caller {
  readonly tenant: string
  readonly user: string
}

/** Caller with the expiry of its check, in epoch ms. */
export interface CheckedCaller extends Caller {
  readonly until: number
  readonly keyVersion?: number
  /** False when the checked credentials may have changed since. */
  readonly isCurrent?: () => boolean
}
