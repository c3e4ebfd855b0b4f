/**
 * The way out of the process, which a host gives to callURL. Not in here: which addresses may be called, redirects and
 * what is told about a call; those are decided before and after.
 */
export interface Transport {
  /** names, addresses and networks that may be called although they are private */
  readonly allow?: readonly string[]
  /** IP addresses of a host name; rejects when there are none */
  resolve(host: string): Promise<readonly string[]>
  /**
   * One exchange with exactly `address`, without following redirects. Rejects when it takes longer than `timeoutMs`,
   * when the body is longer than `maxBytes`, when `signal` is aborted, and when the connection fails.
   */
  send(request: OutboundRequest): Promise<OutboundResponse>
}

export interface OutboundRequest {
  readonly url: string
  /** where to connect to, so that a name cannot resolve to another place between the check and the call */
  readonly address: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal: AbortSignal
}

export interface OutboundResponse {
  readonly status: number
  readonly statusText: string
  /** the header of that name, for redirects */
  readonly location?: string
  readonly body: string
}
