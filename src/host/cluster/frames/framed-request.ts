/** Represents a framed request for the server's own handler: the parts of `IncomingMessage` that Fastify uses. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

class FramedSocket {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  readonly encrypted: boolean
  readonly #end: () => void

  constructor(socket: Partial<Socket> & { readonly encrypted?: boolean }, end: () => void) {
    this.remoteAddress = socket.remoteAddress
    this.remotePort = socket.remotePort
    this.localAddress = socket.localAddress
    this.localPort = socket.localPort
    this.encrypted = socket.encrypted === true
    this.#end = end
  }

  destroy(): void {
    this.#end()
  }

  destroySoon(): void {}
}

export class FramedRequest extends Readable {
  readonly method: string
  url: string
  readonly headers: IncomingHttpHeaders
  readonly socket: FramedSocket
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly complete = true
  aborted = false
  #body: Buffer | null

  /** `end`: called to end the request and its answer. */
  constructor(method: string, url: string, headers: IncomingHttpHeaders, body: Buffer, from: object, end: () => void) {
    super()
    this.method = method
    this.url = url
    this.headers = headers
    this.socket = new FramedSocket(from, end)
    this.#body = body.length === 0 ? null : body
  }

  get rawHeaders(): string[] {
    return Object.entries(this.headers).flatMap(([name, value]) => [value ?? ''].flat().flatMap((one) => [name, one]))
  }

  get asMessage(): IncomingMessage {
    return this as unknown as IncomingMessage
  }

  override _read(): void {
    if (this.#body !== null) this.push(this.#body)
    this.#body = null
    this.push(null)
  }
}
