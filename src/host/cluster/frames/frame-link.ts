/**
 * Sends and receives frames at one end of a connection between two hosts. Frames sent in one turn of the event loop
 * form one batch.
 */
import type { Duplex } from 'node:stream'
import { machineTimers } from '#platform'
import type { Signer } from '../signer.ts'
import { BatchReader, BatchWriter, frameSize, MAX_BATCH, type Frame, type ReadFrame } from './frame-batch.ts'

/** Number of buffered bytes above which the link counts as full */
const MANY = 1_048_576

export interface LinkEvents {
  /** Handles a frame. Throws an Error for an invalid one, which ends the connection. */
  frame(frame: ReadFrame): void
  /** Called once, after the last frame was received. */
  closed(error: Error): void
}

export class FrameLink {
  readonly socket: Duplex
  readonly #events: LinkEvents
  readonly #writer: BatchWriter
  readonly #reader: BatchReader
  #waiting: Frame[] = []
  #size = 0
  #isPlanned = false
  #isClosed = false
  #error = new Error('the other host closed the connection')

  constructor(socket: Duplex, own: Signer, others: Signer, events: LinkEvents) {
    this.socket = socket
    this.#events = events
    this.#writer = new BatchWriter(own)
    this.#reader = new BatchReader(others)
    socket.on('data', (piece: Buffer) => this.#take(piece))
    socket.on('error', (error: Error) => (this.#error = error))
    // otherwise server sockets would stay half open
    socket.once('end', () => socket.destroy())
    socket.once('close', () => {
      this.#isClosed = true
      this.#waiting = []
      events.closed(this.#error)
    })
  }

  get isFull(): boolean {
    return this.socket.writableLength + this.#size > MANY
  }

  /** Whether the other host has proved that it knows the cluster's secret. */
  get isProven(): boolean {
    return this.#reader.hasRead
  }

  send(kind: number, number: number, head = '', body: Uint8Array | string = ''): void {
    if (this.#isClosed) return
    const frame = { kind, number, head, body }
    const size = frameSize(frame)
    if (this.#size + size > MAX_BATCH) this.#flush()
    this.#waiting.push(frame)
    this.#size += size
    if (this.#isPlanned) return
    this.#isPlanned = true
    machineTimers.soon(this.#flushPlanned)
  }

  greet(): void {
    this.socket.write(this.#writer.write([], 0))
  }

  /** Closes the connection after pending writes; the other host then closes its end too. */
  close(): void {
    this.#flush()
    this.socket.end()
  }

  cut(error: Error): void {
    this.#error = error
    this.socket.destroy()
  }

  readonly #flushPlanned = (): void => {
    this.#isPlanned = false
    this.#flush()
  }

  #flush(): void {
    if (this.#waiting.length === 0 || this.#isClosed) return
    const bytes = this.#writer.write(this.#waiting, this.#size)
    this.#waiting = []
    this.#size = 0
    this.socket.write(bytes)
  }

  #take(piece: Buffer): void {
    if (this.#isClosed) return
    try {
      for (const frame of this.#reader.read(piece)) this.#events.frame(frame)
    } catch (error) {
      this.cut(error as Error)
    }
  }
}
