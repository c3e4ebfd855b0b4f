/** What goes between the host and a webscript in its process. Plain JSON; bytes are base64. */

/** A request that a webscript answers. */
export interface WebCallParams {
  /** what questions about this call name */
  readonly id: string
  readonly method: string
  /** behind the name of the webscript, as it was written; begins with a slash */
  readonly path: string
  /** as it was written, without the question mark */
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** bytes of the body; more than fit into the call are asked for */
  readonly size: number
  readonly body?: string
}

export interface WebHead {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The answer as a whole; without head and body when it went out in pieces. */
export type WebAnswer = (WebHead & { readonly text?: string; readonly bytes?: string }) | { readonly streamed: true }

/**
 * Questions of a webscript to its host, beside `fetch`, each with the `id` of its call:
 *
 * - `web.read` { offset }: the next bytes of the body, as base64
 * - `web.head` WebHead: begins an answer in pieces
 * - `web.write` { text } or { bytes }: a piece; answered when there is room for another one
 * - `api` ApiRequest: gives an ApiAnswer; without an id
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

/** bytes of a body that go with the call or in one piece: as base64 they fit into a line */
export const PIECE_BYTES = 393_216
