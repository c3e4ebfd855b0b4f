/** Creates number lists whose memory never moves, so that generated code can embed their address. */

export function integersInPlace(length: number): Int32Array<ArrayBuffer> {
  return new Int32Array(new ArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT))
}

export function numbersInPlace(length: number): Float64Array<ArrayBuffer> {
  return new Float64Array(new ArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT))
}
