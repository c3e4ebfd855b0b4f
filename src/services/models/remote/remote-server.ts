/**
 * Calls a model server, with limits on time and size. A request is retried only when the server did not receive it or
 * reports that it did nothing, since calls of models may cost money.
 */
import { AppError, isPlainObject, type StartTimer } from '#kernel'
import type { OpenModel } from '../driver.ts'
import type { SealedRemote } from './sealed-remote.ts'

/** Sends one request. Rejects with `REMOTE_FAILED` or `REMOTE_LATE`, also for addresses that must not be called. */
export type RemoteTransport = (request: RemoteRequest) => Promise<RemoteAnswer>

export interface RemoteRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal: AbortSignal
}

export interface RemoteAnswer {
  readonly status: number
  readonly body: string
}

/** `cause` of an error when the server did not receive the request. */
export const NOT_SENT = 'not sent'

export interface RemoteServerOptions {
  readonly transport: RemoteTransport
  readonly later: StartTimer
  readonly clock: () => number
}

/** time limits in ms for a readiness check and for a call, including retries */
const LOOK_MS = 5_000
const CALL_MS = 30_000
const MAX_BYTES = 33_554_432
/** pauses before retries, in ms */
const PAUSES = [100, 500] as const
/** statuses after which the server has done nothing; other statuses may come from a proxy, after an unknown effect */
const DID_NOTHING: ReadonlySet<number> = new Set([429, 503])
const ONLY_ASKED: ReadonlySet<number> = new Set([...DID_NOTHING, 502, 504])
const MAX_TEXT = 500

export type OpenRemote = Pick<OpenModel, 'signatures' | 'call'>

export class RemoteServer {
  readonly #options: RemoteServerOptions
  readonly #remote: SealedRemote
  readonly #closing = new AbortController()

  constructor(options: RemoteServerOptions, remote: SealedRemote) {
    this.#options = options
    this.#remote = remote
  }

  get host(): string {
    return new URL(this.#remote.url).host
  }

  get path(): string {
    return `/models/${this.#remote.model.split('/').map(encodeURIComponent).join('/')}`
  }

  notReady(): AppError {
    return new AppError('REMOTE_FAILED', `model ${this.#remote.model} is not ready on ${this.host}`)
  }

  wrongAnswer(what: string): AppError {
    return new AppError('MODEL_FAILED', `the response of ${this.host} is invalid: ${what}`)
  }

  async look(path: string): Promise<unknown> {
    const answer = await this.#send('GET', path, undefined, LOOK_MS)
    if (answer.status === 404) return undefined
    if (isGood(answer)) return answer.body === '' ? {} : jsonOf(answer)
    throw new AppError('REMOTE_FAILED', this.#messageOf(answer))
  }

  /** Throws `VALIDATION` for input that the server rejects, `MODEL_FAILED` for failures of the model. */
  async call(path: string, body: object): Promise<unknown> {
    const answer = await this.#send('POST', path, JSON.stringify(body), CALL_MS)
    if (!isGood(answer)) throw this.#refusal(answer)
    const value = jsonOf(answer)
    // some servers write numbers that JSON does not support
    if (value === undefined) throw new AppError('MODEL_FAILED', `the response of ${this.host} is not JSON`)
    return value
  }

  close(): void {
    this.#closing.abort()
  }

  async #send(
    method: RemoteRequest['method'],
    path: string,
    body: string | undefined,
    limit: number,
  ): Promise<RemoteAnswer> {
    const { transport, clock } = this.#options
    const { url, headers } = this.#remote
    const until = clock() + limit
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
    for (const pause of [...PAUSES, undefined]) {
      if (this.#closing.signal.aborted) break
      const timeoutMs = Math.max(1, Math.ceil(until - clock()))
      const outcome = await transport({
        url: url + path,
        method,
        headers: { Accept: 'application/json', ...headers, ...type },
        body,
        timeoutMs,
        maxBytes: MAX_BYTES,
        signal: this.#closing.signal,
      }).catch(thrownError)
      const isLast = pause === undefined || clock() + pause >= until
      if (isLast || !mayTryAgain(outcome, method)) {
        if (!(outcome instanceof AppError)) return outcome
        if (!this.#closing.signal.aborted) throw outcome
        break
      }
      await new Promise<void>((resolve) => void this.#options.later(pause, resolve))
    }
    throw new AppError('CLOSED', 'the model was unloaded during the call')
  }

  #refusal(answer: RemoteAnswer): AppError {
    const { status } = answer
    const message = this.#messageOf(answer)
    if (status === 400 || status === 413 || status === 422) return new AppError('VALIDATION', message)
    if (status === 408 || status === 504) return new AppError('REMOTE_LATE', message)
    const isAway = status < 500 || status === 502 || status === 503
    return new AppError(isAway ? 'REMOTE_FAILED' : 'MODEL_FAILED', message)
  }

  #messageOf({ status, body }: RemoteAnswer): string {
    const text = textOf(body)
    const hint =
      HINTS.get(status) ?? (status >= 300 && status < 400 ? '; register the address that it redirects to' : '')
    return `${this.host} answered ${status}${text === '' ? '' : `: ${text}`}${hint}`
  }
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, '; register valid headers'],
  [403, '; register valid headers'],
])

function thrownError(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

function mayTryAgain(outcome: RemoteAnswer | AppError, method: RemoteRequest['method']): boolean {
  if (outcome instanceof AppError) return outcome.cause === NOT_SENT
  return (method === 'GET' ? ONLY_ASKED : DID_NOTHING).has(outcome.status)
}

function isGood({ status }: RemoteAnswer): boolean {
  return status >= 200 && status < 300
}

function jsonOf({ body }: RemoteAnswer): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Extracts the error text in known formats; otherwise the last line, which is the most useful one of a traceback. */
function textOf(body: string): string {
  const value = jsonOf({ status: 0, body })
  const reason = isPlainObject(value) ? (value['error'] ?? value['detail'] ?? value['message']) : undefined
  const text = typeof reason === 'string' ? reason : reason === undefined ? body : JSON.stringify(reason)
  return (text.trim().split('\n').at(-1) ?? '').trim().slice(0, MAX_TEXT)
}
