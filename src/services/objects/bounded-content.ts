/** Enforces the size limits of a content while receiving it. */
import { AppError, makeIssue } from '#kernel'
import { type LengthBounds, MAX_OBJECT_BYTES } from './contract.ts'

export const TOO_SMALL = 'TOO_SMALL'

/** Throws `TOO_LARGE` at the first byte too many, or `VALIDATION` at the end when too few arrived. */
export async function* boundedContent(
  content: Uint8Array | AsyncIterable<Uint8Array>,
  { min = 0, max = MAX_OBJECT_BYTES }: LengthBounds = {},
): AsyncIterable<Uint8Array> {
  const most = Math.min(max, MAX_OBJECT_BYTES)
  let size = 0
  for await (const piece of content instanceof Uint8Array ? [content] : content) {
    size += piece.length
    if (size > most) throw new AppError('TOO_LARGE', `The content is larger than the limit of ${most} bytes`)
    yield piece
  }
  if (size >= min) return
  const message = `The content has ${size} bytes, less than the minimum of ${min}`
  throw new AppError('VALIDATION', message, { issues: [makeIssue(TOO_SMALL, '/content', message)] })
}
