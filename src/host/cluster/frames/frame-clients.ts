/**
 * Forwards small requests to other hosts in frames, over persistent connections. The first request to a host opens its
 * connection; until that is open, requests use HTTP.
 *
 * FRAMED-1 each request receives exactly one answer or error; later answers are ignored
 * FRAMED-2 requests to a host that does not support frames, or does not read them fast enough, are sent without frames
 */
import { request as askPlain, type IncomingMessage } from 'node:http'
import { request as askSecurely } from 'node:https'
import type { Socket } from 'node:net'
import type { Hop, Hops } from '../hop.ts'
import { HOP_HEADER } from '../hop.ts'
import type { ReadFrame } from './frame-batch.ts'
import { frameKeys, newNonce, isNonce, type FrameKeys } from './frame-keys.ts'
import {
  ANSWER,
  ASK,
  BEGIN,
  BROKEN,
  DROP,
  END,
  FRAMES_PATH,
  LEAVING,
  MAX_HEAD,
  MAX_OPEN,
  MORE,
  NONCE_HEADER,
  PIECE,
  PROTOCOL,
  UNTAKEN,
  type AnswerHead,
  type AskHead,
} from './frame-kinds.ts'
import { FrameLink } from './frame-link.ts'

const CONNECT_MS = 2_000
/** Pause before reopening a lost or declined connection, in ms */
const LOST_MS = 1_000
const REFUSED_MS = 30_000

export interface FramedAsking {
  whole(head: AnswerHead, body: Buffer): void
  begun(head: AnswerHead): void
  /** Receives part of the body. `read`: must be called when the piece was read */
  piece(bytes: Buffer): void
  ended(): void
  failed(error: Error): void
}

export interface FrameClientsOptions {
  readonly hops: Hops
  readonly elapsed: () => number
}

/** The request had no effect, since the host was stopping. */
export class UntakenError extends Error {
  readonly code = 'UNTAKEN'

  constructor() {
    super('the host is stopping and rejected it')
  }
}

export class FrameClients {
  readonly #options: FrameClientsOptions
  /** Connections by address; a number: `elapsed` at which a new attempt is allowed; null: connecting */
  readonly #links = new Map<string, AskingLink | number | null>()
  readonly #open = new Set<AskingLink>()
  #isEnded = false

  constructor(options: FrameClientsOptions) {
    this.#options = options
  }

  /** Returns the connection to a host; undefined: forward without frames for now. */
  to(url: string): AskingLink | undefined {
    const known = this.#links.get(url)
    if (known instanceof AskingLink) return known.takesMore ? known : undefined
    if (known === undefined || (known !== null && this.#options.elapsed() >= known)) this.#connect(url)
    return undefined
  }

  looked(live: ReadonlySet<string>): void {
    for (const url of this.#links.keys()) if (!live.has(url)) this.#links.delete(url)
    for (const link of this.#open) if (!live.has(link.url)) link.cut()
  }

  end(): void {
    this.#isEnded = true
    for (const link of this.#open) link.cut()
  }

  #connect(url: string): void {
    if (this.#isEnded) return
    this.#links.set(url, null)
    const { hops, elapsed } = this.#options
    const again = (ms: number): void => {
      if (this.#links.get(url) === null) this.#links.set(url, elapsed() + ms)
    }
    const nonce = newNonce()
    const path = `${FRAMES_PATH}?nonce=${nonce}`
    const ask = url.startsWith('https:') ? askSecurely : askPlain
    const headers = {
      connection: 'upgrade',
      upgrade: PROTOCOL,
      [HOP_HEADER]: hops.sign('GET', path, { count: 1, term: 0 }),
    }
    const asking = ask(url + path, { headers, agent: false, timeout: CONNECT_MS })
    asking.on('upgrade', (answer: IncomingMessage, socket: Socket, begun: Buffer) => {
      const others = answer.headers[NONCE_HEADER]
      if (!isNonce(others) || this.#isEnded || this.#links.get(url) !== null) {
        socket.destroy()
        return again(REFUSED_MS)
      }
      socket.setTimeout(0)
      if (begun.length > 0) socket.unshift(begun)
      const link = new AskingLink(url, socket, frameKeys(hops, nonce, others), (isClosed) => {
        if (isClosed) this.#open.delete(link)
        if (this.#links.get(url) === link) this.#links.set(url, elapsed() + LOST_MS)
      })
      this.#links.set(url, link)
      this.#open.add(link)
    })
    asking.on('response', (answer) => {
      answer.destroy()
      again(REFUSED_MS)
    })
    asking.on('timeout', () => asking.destroy(new Error('no answer')))
    asking.on('error', () => again(LOST_MS))
    asking.end()
  }
}

export class AskingLink {
  readonly url: string
  readonly #link: FrameLink
  readonly #waiting = new Map<number, FramedAsking>()
  #last = 0
  #isLeaving = false

  /** `gone`: called when the link is unusable, and closed or closing */
  constructor(url: string, socket: Socket, { asking, owner }: FrameKeys, gone: (isClosed: boolean) => void) {
    this.url = url
    socket.setNoDelay(true).setKeepAlive(true)
    this.#link = new FrameLink(socket, asking, owner, {
      frame: (frame) => {
        if (frame.kind !== LEAVING) return this.#take(frame)
        this.#isLeaving = true
        gone(false)
        this.#closeWhenDone()
      },
      closed: (error) => {
        this.#isLeaving = true
        gone(true)
        const waiting = [...this.#waiting.values()]
        this.#waiting.clear()
        for (const one of waiting) one.failed(error)
      },
    })
    this.#link.greet()
  }

  get takesMore(): boolean {
    return !this.#isLeaving && this.#waiting.size < MAX_OPEN && !this.#link.isFull
  }

  /** Sends a request and returns its number; undefined when its head is too long for a frame. */
  ask(
    { method, url, headers }: { method: string; url: string; headers: AskHead[2] },
    { count, term, slot = 0, address = '' }: Hop,
    body: Buffer,
    asking: FramedAsking,
  ): number | undefined {
    const head = JSON.stringify([method, url, headers, count, term, slot, address] satisfies AskHead)
    if (head.length > MAX_HEAD) return undefined
    do this.#last = (this.#last + 1) >>> 0
    while (this.#waiting.has(this.#last))
    this.#waiting.set(this.#last, asking)
    this.#link.send(ASK, this.#last, head, body)
    return this.#last
  }

  drop(number: number): void {
    if (!this.#waiting.delete(number)) return
    this.#link.send(DROP, number)
    this.#closeWhenDone()
  }

  /** Acknowledges the bytes of pieces that were read. */
  more(number: number, bytes: number): void {
    if (this.#waiting.has(number)) this.#link.send(MORE, number, String(bytes))
  }

  cut(): void {
    this.#link.cut(new Error('the host is gone'))
  }

  #take({ kind, number, head, body }: ReadFrame): void {
    const asking = this.#waiting.get(number)
    if (asking === undefined) return
    if (kind === PIECE) return asking.piece(body)
    if (kind === BEGIN) return asking.begun(JSON.parse(head) as AnswerHead)
    this.#waiting.delete(number)
    if (kind === ANSWER) asking.whole(JSON.parse(head) as AnswerHead, body)
    else if (kind === END) asking.ended()
    else if (kind === BROKEN) asking.failed(new Error('the host ended its response early'))
    else if (kind === UNTAKEN) asking.failed(new UntakenError())
    else throw new Error(`a frame of kind ${kind} is invalid from an answering host`)
    this.#closeWhenDone()
  }

  #closeWhenDone(): void {
    if (this.#isLeaving && this.#waiting.size === 0) this.#link.close()
  }
}
