/** Who a request comes from. */
export interface Caller {
  readonly tenant: string
  /** the API key, or the subject of a token */
  readonly user: string
}

/** A caller, and until when the check that found it may be trusted without another; epoch ms. */
export interface CheckedCaller extends Caller {
  readonly until: number
  /** of who has a key pair: the version of its record */
  readonly keyVersion?: number
  /** False: what was checked may have changed since. */
  readonly isCurrent?: () => boolean
}
