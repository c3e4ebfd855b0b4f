/** Reads large bodies in pieces, since copying everything at once would block the event loop. */
import { AppError } from '#kernel'
import { machineTimers } from '#platform'

const SLICE = 524_288

/** Reads a body. `length`: declared by the sender, if any. Throws `BODY_TOO_LARGE` above `limit`. */
export async function bodyBytes(
  pieces: AsyncIterable<Uint8Array>,
  limit: number,
  length: number | undefined,
): Promise<Buffer> {
  if (length !== undefined && length > limit) throw tooLarge(limit)
  const whole = length === undefined ? undefined : Buffer.allocUnsafe(length)
  const kept: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > (whole?.length ?? limit)) throw tooLarge(limit)
    if (whole === undefined) kept.push(piece)
    else whole.set(piece, size - piece.length)
  }
  if (whole !== undefined) return whole.subarray(0, size)
  return joined(kept, size)
}

async function joined(pieces: readonly Uint8Array[], size: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(size)
  let at = 0
  let sinceBreath = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
    sinceBreath += piece.length
    if (sinceBreath < SLICE) continue
    sinceBreath = 0
    await machineTimers.breathe()
  }
  return whole
}

export async function* partsOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE) {
    if (at > 0) await machineTimers.breathe()
    yield bytes.subarray(at, at + SLICE)
  }
}

function tooLarge(limit: number): AppError {
  return new AppError('BODY_TOO_LARGE', `the body is larger than ${limit} bytes; send less at once`)
}
