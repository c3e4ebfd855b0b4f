/**
 * Network access of callURL, provided by the host. Checks of addresses, redirects and error texts are up to callURL.
 */
export interface Transport {
  readonly allow?: readonly string[]
  resolve(host: string): Promise<readonly string[]>
  /**
   * Makes one request to exactly `address`, without following redirects. Rejects beyond `timeoutMs` or `maxBytes`, on
   * abort of `signal`, and on a failed connection.
   */
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
}
