/** Reads the bytes of a booster sequentially. */
import { AppError } from '#kernel'

export class ByteReader {
  readonly view: DataView
  at = 0

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.view.byteLength - this.at
  }

  /** Skips bytes and returns their offset. Like all methods, throws `VALIDATION` beyond the end. */
  pass(size: number): number {
    if (size > this.left) throw wrong('it ends too early')
    const begin = this.at
    this.at += size
    return begin
  }

  struct(size: number): DataView {
    return new DataView(this.view.buffer, this.view.byteOffset + this.pass(size), size)
  }

  text(size: number): string {
    return new TextDecoder().decode(this.struct(size))
  }
}

export function wrong(why: string): AppError {
  return new AppError('VALIDATION', `the booster cannot be read: ${why}`)
}
