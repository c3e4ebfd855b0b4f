/** One call of a webscript as the host sees it: its body in pieces, its answer as it comes, and what is kept of it. */
import { Readable } from 'node:stream'
import { AppError, isPlainObject, type Causation, messageOf, Deadline, type StartTimer } from '#kernel'
import { PIECE_BYTES, type WebHead } from '#services/functions/contract'
import { headOf } from './answer-head.ts'
import type { ScriptAnswer, ScriptRequest } from './contract.ts'
import type { ScriptFigures } from './script-figures.ts'
import type { ScriptLog } from './script-log.ts'
import type { LogLevel } from './webscript-schema.ts'

/** bytes that wait for a client */
const WAITING_BYTES = 262_144
/** ms in which a client has to take what waits for it: less than a question may take */
const STALL_MS = 8_000
/** ms that an answer in pieces may take in all */
const STREAM_MS = 600_000
/** Browsers would store them for the API too (WEBSCRIPT-6). */
const NOT_ON_API_ORIGIN: ReadonlySet<string> = new Set(['set-cookie', 'www-authenticate'])
const WHY_REMOVED =
  'on the origin of the API browsers would apply it to the API too; --webscript-url sets up another origin'

export interface CallTimes {
  /** epoch ms */
  readonly now: () => number
  /** ms of a clock that never goes back */
  readonly clock: () => number
  readonly later: StartTimer
}

export interface CallFacts {
  readonly requestId: string
  /** of the webscript */
  readonly name: string
  /** of the webscript in the log */
  readonly key: string
  readonly version: string
  readonly request: ScriptRequest
  readonly log: ScriptLog
  readonly figures: ScriptFigures
}

export class OpenCall {
  /** resolves when the answer begins */
  readonly answer: Promise<ScriptAnswer>
  /** more time as the answer gets on */
  readonly timer = new Deadline()
  readonly #facts: CallFacts
  readonly #times: CallTimes
  readonly #begin: number
  #resolve: (answer: ScriptAnswer) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  /** of an answer in pieces: most come whole */
  #pieces: Readable | undefined
  #room: (() => void) | undefined
  #isLate = false
  #stopLimit: (() => void) | undefined
  #status = 0
  /** bytes of the answer */
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
    // a query may hold secrets
    this.#say('info', 'request', `${request.method} ${request.path} (${request.body.length} bytes)`)
  }

  get name(): string {
    return this.#facts.name
  }

  get causation(): Causation | undefined {
    return this.#facts.request.causation
  }

  /** Returns bytes of the body, as base64. */
  read(offset: unknown): string {
    if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) throw refused('it wants an offset')
    return Buffer.from(this.#facts.request.body.subarray(offset, offset + PIECE_BYTES)).toString('base64')
  }

  /** Begins the answer. Throws `PLUG_FAILED` for a head that no answer can have. */
  begin(params: Readonly<Record<string, unknown>>): void {
    if (this.#pieces !== undefined) throw refused('the answer has begun already')
    const head = headOf(params)
    const pieces = new Readable({
      highWaterMark: WAITING_BYTES,
      read: () => this.#wake(),
      destroy: (error, done) => {
        this.#wake()
        done(error)
      },
    })
    // the sender is notified by the stream
    pieces.on('error', () => undefined)
    this.#pieces = pieces
    this.#stopLimit = this.#times.later(STREAM_MS, () => (this.#isLate = true))
    this.timer.renew()
    this.#answerWith(head, pieces)
  }

  /** Resolves when there is room for another piece. Rejects when the client is gone or takes nothing. */
  async write(params: Readonly<Record<string, unknown>>): Promise<void> {
    const pieces = this.#pieces
    if (pieces === undefined) throw refused('the answer has not begun')
    if (this.#room !== undefined) throw refused('a piece is on its way; write the next one when it is answered')
    const piece = Buffer.from(bodyOf(params))
    if (pieces.destroyed) throw refused('the client went away')
    if (this.#isLate) throw refused(`the answer takes longer than ${STREAM_MS} ms`)
    this.#sent += piece.length
    this.timer.renew()
    if (piece.length === 0 || pieces.push(piece)) return
    await this.#untilRoom(pieces)
    this.timer.renew()
    if (pieces.destroyed) throw refused('the client went away')
  }

  /** The process answered: with the whole, unless it was sent in pieces. Throws `PLUG_FAILED` for what is not an answer. */
  finish(answer: unknown): void {
    if (this.#pieces !== undefined) {
      if (!this.#pieces.destroyed) this.#pieces.push(null)
      return
    }
    if (!isPlainObject(answer)) throw new AppError('PLUG_FAILED', 'it gave no answer', { cause: 'answer' })
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
    this.#say('error', 'response', messageOf(error))
    this.#pieces?.destroy(error as Error)
    this.#reject(error)
  }

  /** Nothing more comes. */
  end(): void {
    const { figures } = this.#facts
    this.#stopLimit?.()
    figures.open--
    figures.bytesOut += this.#sent
    if (this.#status === 0) return
    const level = this.#status >= 500 ? 'error' : this.#status >= 400 ? 'warn' : 'info'
    this.#say(level, 'response', `${this.#status} after ${Math.round(this.#ms())} ms (${this.#sent} bytes)`)
  }

  #answerWith(head: WebHead, body: ScriptAnswer['body']): void {
    const { figures } = this.#facts
    this.#status = head.status
    figures.answered(this.#ms())
    if (head.status >= 500) figures.errors++
    this.#resolve({ ...this.#allowed(head), body })
  }

  /** Without what is not allowed on the origin of the API; the log reports what was removed. */
  #allowed(head: WebHead): WebHead {
    if (this.#facts.request.isOnApiOrigin !== true) return head
    const removed = head.headers.flatMap(([name]) => (NOT_ON_API_ORIGIN.has(name) ? [name] : []))
    if (removed.length === 0) return head
    const named = [...new Set(removed)].join(' and ')
    this.#say('warn', 'response', `${named} removed from the answer: ${WHY_REMOVED}`)
    return { ...head, headers: head.headers.filter(([name]) => !NOT_ON_API_ORIGIN.has(name)) }
  }

  #ms(): number {
    return this.#times.clock() - this.#begin
  }

  #say(level: LogLevel, kind: 'request' | 'response', message: string): void {
    const { log, key, version, requestId } = this.#facts
    log.add(key, { time: this.#times.now(), level, kind, message, version, requestId })
  }

  #untilRoom(pieces: Readable): Promise<void> {
    return new Promise((resolve, reject) => {
      const callOff = this.#times.later(STALL_MS, () => {
        this.#room = undefined
        pieces.destroy(new Error('the client takes nothing'))
        reject(refused(`the client took nothing for ${STALL_MS} ms`))
      })
      this.#room = () => {
        callOff()
        resolve()
      }
    })
  }

  #wake(): void {
    const room = this.#room
    this.#room = undefined
    room?.()
  }
}

function bodyOf({ text, bytes }: Readonly<Record<string, unknown>>): string | Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : typeof text === 'string' ? text : ''
}

function refused(why: string): AppError {
  return new AppError('PLUG_FAILED', why)
}
