/**
 * Lists of numbers whose memory never moves, however short they are: generated code that captures one then has its
 * address in it. Short ones would else lie in the heap, where each access has to ask the list where it is.
 */

export function integersInPlace(length: number): Int32Array<ArrayBuffer> {
  return new Int32Array(new ArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT))
}

export function numbersInPlace(length: number): Float64Array<ArrayBuffer> {
  return new Float64Array(new ArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT))
}
