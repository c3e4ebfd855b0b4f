/** Who a request comes from. */
export interface Caller {
  readonly tenant: string
  /** the API key, or the subject of a token */
  readonly user: string
}

/** A caller, and until when the check that found it may be trusted without another; epoch ms. */
export interface CheckedCaller extends Caller {
  readonly until: number
}
