/**
 * Webscripts: functions that are called over HTTP, at an address of the host.
 *
 * WEBSCRIPT-1 a private webscript accepts its own secret, a key of its tenant, or from inside a token of its tenant
 * WEBSCRIPT-2 a draft is called only by its version
 * WEBSCRIPT-3 credentials that authorize a call do not reach the webscript, nor do key pairs and tokens of the API
 * WEBSCRIPT-4 the host buffers a bounded part of an answer
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

/** The webscripts of one tenant. */
export interface InternalWebscripts {
  as(caller: Caller): WebscriptsApi
  has(name: string): boolean
  nameOf(id: string): string | undefined
  /** The requested version: exact, a range, or `latest`. */
  choose(name: string, version: string | undefined): DeployedWebscript | undefined
  /**
   * `NOT_FOUND`, `UNAUTHORIZED` (without credentials), `FORBIDDEN`, `RATE_LIMITED`. Secrets of other published versions
   * are valid too, so that a new version locks out no caller.
   */
  authenticate(script: DeployedWebscript | undefined, shown: ShownCredentials): Promise<Admitted>
  /** Called before each call, and before its body is read. `RATE_LIMITED`, whose `cause` is the seconds to wait. */
  admit(): void
  call(script: DeployedWebscript, request: ScriptRequest): Promise<ScriptAnswer>
  /** Answers a webscript that asks its host while one of its calls is open. */
  answer(name: string, question: string, params: unknown, signal: AbortSignal): Promise<unknown>
  /** Logs a line of a process. */
  addLine(line: FunctionLine): void
  gauges(): { readonly open: number; readonly calls: number; readonly errors: number }
}

export interface Admitted {
  /** it authorized the call, or is a pair or token of this host: the webscript does not receive it */
  readonly isHeaderOurs: boolean
  /** authenticated by the webscript's tenant: may read why a call failed */
  readonly isOwner: boolean
}

export interface ShownCredentials {
  readonly authorization: string | undefined
  /** in the query, decoded; a plus may have become a blank */
  readonly secret?: string | undefined
  readonly address: string
  /** tenant of a platform token, in calls from the host itself */
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
  /** of a call by a rule */
  readonly causation?: Causation
  /** The answer goes to the origin of the API (WEBSCRIPT-6). */
  readonly isOnApiOrigin?: boolean
}

export interface ScriptAnswer extends WebHead {
  /** a stream fails with the webscript */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>
}

export interface WebscriptsApi {
  list(): Promise<readonly WebscriptInfo[]>
  /** The latest version, or a named one. */
  get(name: string, version?: string): Promise<WebscriptInfo>
  create(webscript: NewWebscript): Promise<Operation>
  /** Creates the next version, or replaces the files of a named draft. */
  replace(name: string, change: WebscriptChange, version?: string): Promise<Operation>
  remove(name: string, version?: string): Promise<Operation>
  operation(id: string): Promise<Readonly<Record<string, unknown>>>
  /** `before` in the query excludes later lines. */
  log(name: string, query?: ScriptLogQuery): Promise<ScriptLogPage>
  /** New lines, or those after a number. */
  tail(name: string, query: ScriptLogQuery & { readonly signal: AbortSignal }): AsyncIterable<ScriptLine>
  metrics(name: string): Promise<ScriptMetrics>
}

/** At most the first `most` characters; a longer stream ends early. */
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
