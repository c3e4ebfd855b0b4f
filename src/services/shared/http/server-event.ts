/** Fields of one server-sent event. */
export interface ServerEvent {
  /** id that a reconnecting reader sends as `Last-Event-ID` */
  readonly id?: string
  /** name of the event; default `message` */
  readonly event?: string
  readonly data: unknown
}
