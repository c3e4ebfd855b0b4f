/** One call of a webscript as the host sees it: its body to be read in pieces, and its answer as it comes. */
import { Readable } from 'node:stream'
import { AppError, type Led, RenewableTimer, type StartTimer } from '#kernel'
import { PIECE_BYTES, type WebHead } from '#services/functions/contract'
import { headOf } from './answer-head.ts'

/** bytes that wait for a client */
const WAITING_BYTES = 262_144
/** ms in which a client has to take what waits for it: less than a question may take */
const STALL_MS = 8_000
/** ms that an answer in pieces may take in all */
const STREAM_MS = 600_000

export interface OpenCallOptions {
  readonly owner: string
  readonly body: Uint8Array
  /** when a rule calls */
  readonly led?: Led | undefined
  readonly later: StartTimer
  /** told of an answer in pieces: its head, and what gives them */
  readonly begun: (head: WebHead, pieces: Readable) => void
}

export class OpenCall {
  readonly owner: string
  readonly led: Led | undefined
  /** more time as the answer gets on */
  readonly timer = new RenewableTimer()
  /** bytes of them */
  sent = 0
  readonly #body: Uint8Array
  readonly #later: StartTimer
  readonly #begun: OpenCallOptions['begun']
  /** of an answer in pieces: most come whole */
  #pieces: Readable | undefined
  #room: (() => void) | undefined
  #isLate = false
  #stopLimit: (() => void) | undefined

  constructor({ owner, body, led, later, begun }: OpenCallOptions) {
    this.owner = owner
    this.led = led
    this.#body = body
    this.#later = later
    this.#begun = begun
  }

  /** Whether there is an answer in pieces. */
  get hasBegun(): boolean {
    return this.#pieces !== undefined
  }

  read(offset: unknown): string {
    if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) throw refused('it wants an offset')
    return Buffer.from(this.#body.subarray(offset, offset + PIECE_BYTES)).toString('base64')
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
    // whoever sends it hears of it
    pieces.on('error', () => undefined)
    this.#pieces = pieces
    this.#stopLimit = this.#later(STREAM_MS, () => (this.#isLate = true))
    this.timer.renew()
    this.#begun(head, pieces)
  }

  /** Resolves when there is room for another piece. Rejects when the client is gone or takes nothing. */
  async write(params: Readonly<Record<string, unknown>>): Promise<void> {
    const pieces = this.#pieces
    if (pieces === undefined) throw refused('the answer has not begun')
    if (this.#room !== undefined) throw refused('a piece is on its way; write the next one when it is answered')
    const { text, bytes } = params
    const piece =
      typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : Buffer.from(typeof text === 'string' ? text : '')
    if (pieces.destroyed) throw refused('the client went away')
    if (this.#isLate) throw refused(`the answer takes longer than ${STREAM_MS} ms`)
    this.sent += piece.length
    this.timer.renew()
    if (piece.length === 0 || pieces.push(piece)) return
    await this.#untilRoom(pieces)
    this.timer.renew()
    if (pieces.destroyed) throw refused('the client went away')
  }

  /** Nothing more comes: the answer is whole, or it failed on the way. */
  end(error?: Error): void {
    this.#stopLimit?.()
    if (this.#pieces === undefined || this.#pieces.destroyed) return
    if (error === undefined) this.#pieces.push(null)
    else this.#pieces.destroy(error)
  }

  #untilRoom(pieces: Readable): Promise<void> {
    return new Promise((resolve, reject) => {
      const callOff = this.#later(STALL_MS, () => {
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

function refused(why: string): AppError {
  return new AppError('PLUG_FAILED', why)
}
