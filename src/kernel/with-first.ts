/** Continues an async iterator whose first result has already been read. */

export async function* withFirst<T>(
  first: IteratorResult<T, unknown>,
  rest: AsyncIterator<T, unknown>,
): AsyncGenerator<T, void, undefined> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
