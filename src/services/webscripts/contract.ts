/**
 * Webscripts: functions of a tenant that are called over HTTP, at an address of the host.
 *
 * WEBSCRIPT-1 a private webscript is called only with a secret of its own, or with a key or, from inside, a token of its tenant
 * WEBSCRIPT-2 a draft is called only by its version
 * WEBSCRIPT-3 credentials that let a call in do not reach the webscript, and key pairs and tokens of the API never do
 * WEBSCRIPT-4 the host holds a bounded part of an answer, however long it is
 * WEBSCRIPT-5 a client that goes away cancels its call
 * WEBSCRIPT-6 on the origin of the API no webscript asks browsers for credentials or stores a cookie in them
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
  /** The name of the webscript with that id. */
  nameOf(id: string): string | undefined
  /** The requested version: exact, a range, or `latest`. */
  choose(name: string, version: string | undefined): DeployedWebscript | undefined
  /**
   * Lets a call in, whether the webscript is there or not: `NOT_FOUND`, `UNAUTHORIZED` (nothing was shown), `FORBIDDEN`,
   * `RATE_LIMITED`. A secret of another published version opens it too, so that a new version locks nobody out.
   */
  authenticate(script: DeployedWebscript | undefined, shown: ShownCredentials): Promise<Admitted>
  /** Called before each call, and before its body is read. `RATE_LIMITED`, whose `cause` is the seconds to wait. */
  admit(): void
  call(script: DeployedWebscript, request: ScriptRequest): Promise<ScriptAnswer>
  /** Answers a webscript that asks its host while one of its calls is open. */
  answer(name: string, question: string, params: unknown, signal: AbortSignal): Promise<unknown>
  /** Keeps a line that a process wrote. */
  addLine(line: FunctionLine): void
  gauges(): { readonly open: number; readonly calls: number; readonly errors: number }
}

/** What is known of a caller that was let in. */
export interface Admitted {
  /** the header let the call in, or is a pair or token of this host: the webscript does not get it */
  readonly isHeaderOurs: boolean
  /** it showed a key pair or token of the webscript's tenant: it may read why a call failed */
  readonly isOwner: boolean
}

/** What a call shows of who it is. */
export interface ShownCredentials {
  readonly authorization: string | undefined
  /** of the query, decoded; a plus may have become a blank */
  readonly secret?: string | undefined
  /** of the client */
  readonly address: string
  /** whose platform token was shown, of a call that comes from the host itself */
  readonly tokenOf?: string
}

export interface ScriptRequest {
  readonly method: string
  readonly path: string
  /** without the question mark */
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
  /** the client is gone */
  readonly signal: CancelSignal
  /** of a call by a rule */
  readonly causation?: Causation
  /** Its answer goes to a client of the API's origin, whose browser keeps credentials for it (WEBSCRIPT-6). */
  readonly isOnApiOrigin?: boolean
}

export interface ScriptAnswer extends WebHead {
  /** a stream fails when the webscript does before its end */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>
}

/** What one caller can do with the webscripts of its tenant. */
export interface WebscriptsApi {
  /** The latest version of each. */
  list(): Promise<readonly WebscriptInfo[]>
  /** The latest version, or the one that is named. */
  get(name: string, version?: string): Promise<WebscriptInfo>
  /** `VALIDATION`, `CONFLICT` */
  create(webscript: NewWebscript): Promise<Operation>
  /** Its next version; of a draft that is named, its files. */
  replace(name: string, change: WebscriptChange, version?: string): Promise<Operation>
  remove(name: string, version?: string): Promise<Operation>
  operation(id: string): Promise<Readonly<Record<string, unknown>>>
  /** Newest last, those before `before`. */
  log(name: string, query?: ScriptLogQuery): Promise<ScriptLogPage>
  /** What comes from now on, or after a number that was seen. */
  tail(name: string, query: ScriptLogQuery & { readonly signal: AbortSignal }): AsyncIterable<ScriptLine>
  metrics(name: string): Promise<ScriptMetrics>
}
