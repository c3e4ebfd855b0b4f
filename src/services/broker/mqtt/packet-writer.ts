/** Writes MQTT packets in the protocol version of the client. */
import type { Socket } from 'node:net'
import { generate, writeToStream, type Packet } from 'mqtt-packet'

export class PacketWriter {
  /** protocol version: 3, 4 or 5 */
  version = 4
  mostBytes: number | undefined
  readonly #socket: Socket
  #drained: Promise<void> | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Sends a packet, unless it is too large for the client. */
  send(packet: Packet): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return
    const options = { protocolVersion: this.version }
    if (this.mostBytes === undefined) return void writeToStream(packet, this.#socket, options)
    const bytes = generate(packet, options)
    if (bytes.length <= this.mostBytes) this.#socket.write(bytes)
  }

  /** Returns undefined if more packets can be sent now; otherwise resolves once they can, or once the socket closes. */
  ready(): Promise<void> | undefined {
    if (!this.#socket.writableNeedDrain || this.#socket.destroyed) return undefined
    this.#drained ??= new Promise<void>((resolve) => {
      const done = (): void => {
        this.#drained = undefined
        this.#socket.off('drain', done).off('close', done)
        resolve()
      }
      this.#socket.once('drain', done).once('close', done)
    })
    return this.#drained
  }
}
