/** A content in parts of one size, whatever the pieces are in which it comes; the last one may be shorter. */
export async function* inParts(
  content: AsyncIterable<Uint8Array>,
  size: number,
  see: (piece: Uint8Array) => unknown,
): AsyncGenerator<Uint8Array, undefined> {
  let pieces: Uint8Array[] = []
  let length = 0
  for await (let piece of content) {
    see(piece)
    while (length + piece.length >= size) {
      const rest = size - length
      yield Buffer.concat([...pieces, piece.subarray(0, rest)])
      piece = piece.subarray(rest)
      pieces = []
      length = 0
    }
    if (piece.length > 0) pieces.push(piece)
    length += piece.length
  }
  if (length > 0) yield Buffer.concat(pieces)
  return undefined
}
