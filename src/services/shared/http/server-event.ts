/** Fields of one server-sent event. */
export interface ServerEvent {
  /** Sent by a reconnecting reader as `Last-Event-ID` */
  readonly id?: string
  /** Name; default `message` */
  readonly event?: string
  readonly data: unknown
}
