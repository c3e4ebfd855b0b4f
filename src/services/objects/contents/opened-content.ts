/** A content whose first piece is there: what it is read from is open, whoever removes it meanwhile. */

/** Whoever does not read to the end must call `return`, as a loop does that is left. */
export async function openedContent(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const pieces = content[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done === true) return noPieces()
  let next: IteratorResult<Uint8Array> | undefined = first
  const opened: AsyncIterableIterator<Uint8Array> = {
    next: async () => {
      if (next === undefined) return pieces.next()
      const given = next
      next = undefined
      return given
    },
    return: async () => {
      next = { done: true, value: undefined }
      await pieces.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => opened,
  }
  return opened
}

async function* noPieces(): AsyncIterable<Uint8Array> {}
