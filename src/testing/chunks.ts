/** Ranges of a list that may be left out: halves first, then quarters, down to single items, from the end. */

/** `without`: receives the range to leave out, from `start` up to `end`; `length` is read again after each. */
export async function tryWithoutChunks(
  length: () => number,
  without: (start: number, end: number) => Promise<unknown>,
): Promise<void> {
  for (let size = Math.ceil(length() / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = length(); end > 0; end -= size) await without(Math.max(0, end - size), end)
  }
}
