/** How a request came about when rules led to it, as by a webscript that one of them called. */
export interface Led {
  /** rules in a row */
  readonly hops: number
  /** what everything that came of one arrival is known by */
  readonly root?: string
}

/** Who asks a service. */
export interface Caller {
  readonly tenant: string
  /** the API key, or the subject of a token; `system/engine` for what rules do, `system/broker` for discovery */
  readonly user: string
}
