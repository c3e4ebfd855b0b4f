/** One server-sent event. */
export interface ServerEvent {
  /** what a reader that comes back sends as `Last-Event-ID` */
  readonly id?: string
  /** its name; `message` without */
  readonly event?: string
  /** becomes JSON */
  readonly data: unknown
}
