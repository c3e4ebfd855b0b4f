/** Who asks a service. */
export interface Caller {
  readonly tenant: string
  /** the API key, or the subject of a token; `system/engine` for what rules do, `system/broker` for discovery */
  readonly user: string
}
