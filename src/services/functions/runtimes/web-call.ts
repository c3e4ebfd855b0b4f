/** Defines the messages between the host and the process of a webscript: plain JSON, with bytes in base64. */

export interface WebCallParams {
  /** id for requests to the host about this call */
  readonly id: string
  readonly method: string
  /** encoded path after the name of the webscript; begins with a slash */
  readonly path: string
  /** encoded query, without the question mark */
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** bytes of the body; a large body is fetched with `web.read` */
  readonly size: number
  readonly body?: string
}

export interface WebHead {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A whole response, or the end of a response sent in pieces. */
export type WebAnswer = (WebHead & { readonly text?: string; readonly bytes?: string }) | { readonly streamed: true }

/**
 * Requests to the host in addition to `fetch`; all but `api` include the `id` of the call:
 *
 * - `web.read` { offset }: the next bytes of the body, in base64
 * - `web.head` WebHead: begins a response in pieces
 * - `web.write` { text } or { bytes }: a piece; resolves when there is room for another
 * - `api` ApiRequest: returns an ApiAnswer
 */
export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
}

export interface ApiAnswer extends WebHead {
  readonly text: string
}

/** maximum number of bytes of a body in one message, which fit into a line as base64 */
export const PIECE_BYTES = 393_216
