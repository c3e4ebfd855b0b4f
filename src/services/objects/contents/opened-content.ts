/** Reads the first piece of a content in advance, so that a later removal cannot interrupt reading. */

/** A reader that stops early must call `return`; leaving a `for await` loop does so. */
export async function openedContent(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const pieces = content[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done === true) return noPieces()
  let next: IteratorResult<Uint8Array> | undefined = first
  const opened: AsyncIterableIterator<Uint8Array> = {
    next: async () => {
      if (next === undefined) return pieces.next()
      const current = next
      next = undefined
      return current
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
