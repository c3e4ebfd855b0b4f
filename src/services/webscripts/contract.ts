/**
 * Webscripts: functions that are called over HTTP, at an address of the host.
 *
 * WEBSCRIPT-1 a private webscript accepts its own secret, a key of its tenant, or, in calls from the host itself, a
 *   token of its tenant
 * WEBSCRIPT-2 a draft is called only by its version
 * WEBSCRIPT-3 credentials that authorize a call do not reach the webscript, nor do key pairs, tokens and sessions of the
 *   API
 * WEBSCRIPT-4 the host buffers only a limited part of a response
 * WEBSCRIPT-5 a client that disconnects cancels its call
 * WEBSCRIPT-6 on the origin of the API webscripts cannot request credentials from browsers or set cookies
 *
 * Errors are AppErrors: `NOT_FOUND`, `UNAUTHORIZED`, `FORBIDDEN`, `RATE_LIMITED`, `PLUG_FAILED`, `TOO_LARGE`, `CLOSED`.
 */
import type { Caller, CancelSignal, Causation } from '#kernel'
import type { DeployedWebscript, FunctionLine, WebHead } from '#services/functions/contract'
import type {
  NewWebscript,
  Operation,
  ScriptLine,
  ScriptLogPage,
  ScriptLogQuery,
  ScriptMetrics,
  WebscriptChange,
  WebscriptInfo,
} from './webscript-schema.ts'

/** The webscripts of one tenant, for use inside the host. */
export interface InternalWebscripts {
  as(caller: Caller): WebscriptsApi
  has(name: string): boolean
  nameOf(id: string): string | undefined
  /** Returns the requested version: an exact version, a range, or `latest`. */
  choose(name: string, version: string | undefined): DeployedWebscript | undefined
  /**
   * Authenticates a call. Throws `NOT_FOUND`, `UNAUTHORIZED` (no credentials), `FORBIDDEN` or `RATE_LIMITED`. Secrets
   * of other published versions are valid too, so that publishing a version locks out no caller.
   */
  authenticate(script: DeployedWebscript | undefined, shown: ShownCredentials): Promise<Admitted>
  /**
   * Call before each call, and before reading its body. Throws `RATE_LIMITED`, whose `cause` is the seconds to wait.
   */
  admit(): void
  call(script: DeployedWebscript, request: ScriptRequest): Promise<ScriptAnswer>
  /** Handles a request that a webscript makes to its host during an open call. */
  answer(
    script: Pick<DeployedWebscript, 'name' | 'version'>,
    question: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown>
  /** Logs a line that a process wrote. */
  addLine(line: FunctionLine): void
  gauges(): { readonly open: number; readonly calls: number; readonly errors: number }
}

export interface Admitted {
  /**
   * true when the Authorization header authorized the call, or is a key pair or token of this host; the webscript then
   * does not receive it
   */
  readonly isHeaderOurs: boolean
  /** true when the caller belongs to the webscript's tenant, and so may read why a call failed */
  readonly isOwner: boolean
}

export interface ShownCredentials {
  readonly authorization: string | undefined
  /** decoded secret from the query; a plus sign may have become a blank */
  readonly secret?: string | undefined
  readonly address: string
  /** tenant of a platform token, in calls that the host itself makes */
  readonly tokenOf?: string
}

export interface ScriptRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
  /** aborts when the client disconnects */
  readonly signal: CancelSignal
  /** causation of a call that a rule made */
  readonly causation?: Causation
  /** true when the response is sent on the origin of the API (WEBSCRIPT-6) */
  readonly isOnApiOrigin?: boolean
}

export interface ScriptAnswer extends WebHead {
  /** the response body; a stream fails when the webscript does */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>
}

export interface WebscriptsApi {
  list(): Promise<readonly WebscriptInfo[]>
  /** Returns the latest version, or the given one. */
  get(name: string, version?: string): Promise<WebscriptInfo>
  create(webscript: NewWebscript): Promise<Operation>
  /** Creates the next version, or replaces the files of the given draft. */
  replace(name: string, change: WebscriptChange, version?: string): Promise<Operation>
  remove(name: string, version?: string): Promise<Operation>
  operation(id: string): Promise<Readonly<Record<string, unknown>>>
  /** Returns log lines. `before` in the query excludes later lines. */
  log(name: string, query?: ScriptLogQuery): Promise<ScriptLogPage>
  /** Yields new lines, or the lines after a number. */
  tail(name: string, query: ScriptLogQuery & { readonly signal: AbortSignal }): AsyncIterable<ScriptLine>
  metrics(name: string): Promise<ScriptMetrics>
}

/** Returns at most the first `most` characters; does not read the rest of a stream. */
export async function answerText({ body }: ScriptAnswer, most: number): Promise<string> {
  if (typeof body === 'string') return body.slice(0, most)
  if (body instanceof Uint8Array) return new TextDecoder().decode(body.subarray(0, most * 4)).slice(0, most)
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true })
    if (text.length >= most) break
  }
  return text.slice(0, most)
}
