/** Identity of a caller. */
export interface Caller {
  readonly tenant: string
  /** API key, or the subject of a token */
  readonly user: string
}

/** Caller with the expiry of its check, in epoch ms. */
export interface CheckedCaller extends Caller {
  readonly until: number
  readonly keyVersion?: number
  /** False when the checked credentials may have changed since. */
  readonly isCurrent?: () => boolean
}
