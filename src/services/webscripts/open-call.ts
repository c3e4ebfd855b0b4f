/** Tracks an open call of a webscript: its body, its response (possibly in pieces), log and metrics. */
import { Readable } from 'node:stream'
import { AppError, isPlainObject, type Causation, messageOf, Deadline, type StartTimer } from '#kernel'
import { PIECE_BYTES, type WebHead } from '#services/functions/contract'
import { headOf } from './answer-head.ts'
import type { ScriptAnswer, ScriptRequest } from './contract.ts'
import type { ScriptFigures } from './script-figures.ts'
import type { ScriptLog } from './script-log.ts'
import type { LogLevel } from './webscript-schema.ts'

const WAITING_BYTES = 262_144
/** ms until a stalled client is dropped; shorter than the deadline of a request to the host */
const STALL_MS = 8_000
const STREAM_MS = 600_000
/** Headers whose effect browsers would extend to the API (WEBSCRIPT-6). */
const NOT_ON_API_ORIGIN: ReadonlySet<string> = new Set(['set-cookie', 'www-authenticate'])
const WHY_REMOVED =
  'on the origin of the API, browsers would apply it to the API too; --webscript-url sets another origin'

export interface CallTimes {
  readonly now: () => number
  /** monotonic ms */
  readonly clock: () => number
  readonly later: StartTimer
}

export interface CallFacts {
  readonly requestId: string
  readonly name: string
  readonly key: string
  readonly version: string
  readonly request: ScriptRequest
  readonly log: ScriptLog
  readonly figures: ScriptFigures
}

export class OpenCall {
  readonly answer: Promise<ScriptAnswer>
  /** deadline that is renewed while the response proceeds */
  readonly timer = new Deadline()
  readonly #facts: CallFacts
  readonly #times: CallTimes
  readonly #begin: number
  #resolve: (answer: ScriptAnswer) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  #pieces: Readable | undefined
  #resume: (() => void) | undefined
  #isLate = false
  #stopLimit: (() => void) | undefined
  #status = 0
  #sent = 0

  constructor(times: CallTimes, facts: CallFacts) {
    this.#times = times
    this.#facts = facts
    this.#begin = times.clock()
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const { figures, request } = facts
    figures.open++
    figures.bytesIn += request.body.length
    // without the query, which may contain secrets
    this.#log('info', 'request', `${request.method} ${request.path} (${request.body.length} bytes)`)
  }

  get name(): string {
    return this.#facts.name
  }

  get causation(): Causation | undefined {
    return this.#facts.request.causation
  }

  /** Returns bytes of the body in base64. */
  read(offset: unknown): string {
    if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) throw refused('it needs an offset')
    return Buffer.from(this.#facts.request.body.subarray(offset, offset + PIECE_BYTES)).toString('base64')
  }

  begin(params: Readonly<Record<string, unknown>>): void {
    if (this.#pieces !== undefined) throw refused('the response has already begun')
    const head = headOf(params)
    const pieces = new Readable({
      highWaterMark: WAITING_BYTES,
      read: () => this.#wake(),
      destroy: (error, done) => {
        this.#wake()
        done(error)
      },
    })
    // the consumer of the stream receives the error as well
    pieces.on('error', () => undefined)
    this.#pieces = pieces
    this.#stopLimit = this.#times.later(STREAM_MS, () => (this.#isLate = true))
    this.timer.renew()
    this.#answerWith(head, pieces)
  }

  /** Sends a piece; resolves when there is room for another. Rejects when the client disconnects or stalls. */
  async write(params: Readonly<Record<string, unknown>>): Promise<void> {
    const pieces = this.#pieces
    if (pieces === undefined) throw refused('the response has not begun')
    if (this.#resume !== undefined) throw refused('a piece is in flight; write the next one after its acknowledgement')
    const piece = Buffer.from(bodyOf(params))
    if (pieces.destroyed) throw refused('the client disconnected')
    if (this.#isLate) throw refused(`the response takes longer than ${STREAM_MS} ms`)
    this.#sent += piece.length
    this.timer.renew()
    if (piece.length === 0 || pieces.push(piece)) return
    await this.#untilRoom(pieces)
    this.timer.renew()
    if (pieces.destroyed) throw refused('the client disconnected')
  }

  /** Ends the call, with the whole response or after all pieces. Throws `PLUG_FAILED`. */
  finish(answer: unknown): void {
    if (this.#pieces !== undefined) {
      if (!this.#pieces.destroyed) this.#pieces.push(null)
      return
    }
    if (!isPlainObject(answer)) throw new AppError('PLUG_FAILED', 'it did not return a response', { cause: 'answer' })
    const head = headOf(answer)
    const body = bodyOf(answer)
    this.#sent = Buffer.byteLength(body)
    this.#answerWith(head, body)
  }

  fail(error: unknown): void {
    if (this.#status === 0) {
      this.#facts.figures.answered(this.#ms())
      this.#facts.figures.errors++
    }
    this.#log('error', 'response', messageOf(error))
    this.#pieces?.destroy(error as Error)
    this.#reject(error)
  }

  end(): void {
    const { figures } = this.#facts
    this.#stopLimit?.()
    figures.open--
    figures.bytesOut += this.#sent
    if (this.#status === 0) return
    const level = this.#status >= 500 ? 'error' : this.#status >= 400 ? 'warn' : 'info'
    this.#log(level, 'response', `${this.#status} after ${Math.round(this.#ms())} ms (${this.#sent} bytes)`)
  }

  #answerWith(head: WebHead, body: ScriptAnswer['body']): void {
    const { figures } = this.#facts
    this.#status = head.status
    figures.answered(this.#ms())
    if (head.status >= 500) figures.errors++
    this.#resolve({ ...this.#allowed(head), body })
  }

  /** Removes and logs headers that are not allowed on the origin of the API. */
  #allowed(head: WebHead): WebHead {
    if (this.#facts.request.isOnApiOrigin !== true) return head
    const removed = head.headers.flatMap(([name]) => (NOT_ON_API_ORIGIN.has(name) ? [name] : []))
    if (removed.length === 0) return head
    const named = [...new Set(removed)].join(' and ')
    this.#log('warn', 'response', `${named} removed from the answer: ${WHY_REMOVED}`)
    return { ...head, headers: head.headers.filter(([name]) => !NOT_ON_API_ORIGIN.has(name)) }
  }

  #ms(): number {
    return this.#times.clock() - this.#begin
  }

  #log(level: LogLevel, kind: 'request' | 'response', message: string): void {
    const { log, key, version, requestId } = this.#facts
    log.add(key, { time: this.#times.now(), level, kind, message, version, requestId })
  }

  #untilRoom(pieces: Readable): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#times.later(STALL_MS, () => {
        this.#resume = undefined
        pieces.destroy(new Error('the client stopped reading'))
        reject(refused(`the client accepted no data for ${STALL_MS} ms`))
      })
      this.#resume = () => {
        cancel()
        resolve()
      }
    })
  }

  #wake(): void {
    const room = this.#resume
    this.#resume = undefined
    room?.()
  }
}

function bodyOf({ text, bytes }: Readonly<Record<string, unknown>>): string | Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : typeof text === 'string' ? text : ''
}

function refused(why: string): AppError {
  return new AppError('PLUG_FAILED', why)
}
