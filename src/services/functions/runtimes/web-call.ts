/** Messages between the host and the process of a webscript: plain JSON, with bytes in base64. */

export interface WebCallParams {
  /** in questions about the call */
  readonly id: string
  readonly method: string
  /** behind the name of the webscript, encoded; begins with a slash */
  readonly path: string
  /** encoded, without the question mark */
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** bytes of the body; a large one is read by questions */
  readonly size: number
  readonly body?: string
}

export interface WebHead {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A whole answer, or the end of one in pieces. */
export type WebAnswer = (WebHead & { readonly text?: string; readonly bytes?: string }) | { readonly streamed: true }

/**
 * Questions to the host beside `fetch`; all but `api` have the `id` of the call:
 *
 * - `web.read` { offset }: the next bytes of the body, in base64
 * - `web.head` WebHead: begins an answer in pieces
 * - `web.write` { text } or { bytes }: a piece; answered when there is room for another
 * - `api` ApiRequest: returns an ApiAnswer
 */
export interface ApiRequest {
  readonly method: string
  /** with its query */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
}

export interface ApiAnswer extends WebHead {
  readonly text: string
}

/** bytes of a body in one message, which fit into a line as base64 */
export const PIECE_BYTES = 393_216
