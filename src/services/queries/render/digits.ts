/** Writes numbers as ASCII bytes, in JavaScript's format. */

export const ZERO = 0x30
const [MINUS, POINT] = [0x2d, 0x2e] as const
/** most bytes of a number */
export const MAX_DIGITS = 26
/** limit of the fast path in thousandths; below it, the decimal text is also the shortest one for the number */
const MAX_THOUSANDTHS = 1e12

export function writeNumber(value: number, into: Uint8Array, from: number): number {
  const thousandths = Math.round(Math.abs(value) * 1_000)
  // most measurements have at most three decimals
  if (!(thousandths < MAX_THOUSANDTHS) || thousandths / 1_000 !== Math.abs(value)) {
    return writeText(String(value), into, from)
  }
  let at = from
  if (value < 0) {
    into[at] = MINUS
    at += 1
  }
  const whole = Math.floor(thousandths / 1_000)
  at = writeWhole(whole, into, at)
  let rest = thousandths - whole * 1_000
  if (rest === 0) return at
  into[at] = POINT
  at += 1
  for (let unit = 100; rest > 0; unit /= 10) {
    const digit = (rest / unit) | 0
    into[at] = ZERO + digit
    at += 1
    rest -= digit * unit
  }
  return at
}

export function writeTwo(into: Uint8Array, at: number, value: number): void {
  const tens = (value / 10) | 0
  into[at] = ZERO + tens
  into[at + 1] = ZERO + value - tens * 10
}

function writeWhole(value: number, into: Uint8Array, from: number): number {
  let end = from + 1
  for (let bound = 10; bound <= value; bound *= 10) end += 1
  let rest = value
  for (let at = end - 1; at >= from; at -= 1) {
    const tens = Math.floor(rest / 10)
    into[at] = ZERO + rest - tens * 10
    rest = tens
  }
  return end
}

function writeText(text: string, into: Uint8Array, from: number): number {
  for (let i = 0; i < text.length; i += 1) into[from + i] = text.charCodeAt(i)
  return from + text.length
}
