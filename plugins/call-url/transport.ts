/** Defines the network access that a host provides to callURL, which checks addresses and redirects itself. */
export interface Transport {
  readonly allow?: readonly string[]
  resolve(host: string): Promise<readonly string[]>
  /** Follows no redirects. Rejects above `timeoutMs` or `maxBytes`, on `signal`, and when the connection fails. */
  send(request: OutboundRequest): Promise<OutboundResponse>
}

export interface OutboundRequest {
  readonly url: string
  /** checked address, so that a name cannot resolve differently between check and call */
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
  readonly location?: string
  readonly body: string
  /** header `Retry-After` */
  readonly retryAfter?: string
}
