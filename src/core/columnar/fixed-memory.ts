/**
 * Creates number lists whose memory never moves, so that generated code can embed their address. A short typed array
 * would otherwise live in the heap, where each access has to look up its address.
 */

export function integersInPlace(length: number): Int32Array<ArrayBuffer> {
  return new Int32Array(new ArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT))
}

export function numbersInPlace(length: number): Float64Array<ArrayBuffer> {
  return new Float64Array(new ArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT))
}
