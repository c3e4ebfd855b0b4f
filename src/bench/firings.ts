/** Which rule fired at which message, as a number: a sum over all firings that no other set of them gives by chance. */

/** What a rule adds to the sum, times the stamp of the message. Positive, and small for V8. */
export function weightOf(rule: number): number {
  return (Math.imul(rule + 1, 0x9e_37_79_b1) >>> 2) | 1
}

/** The message's part; not in proportion to its index, or two firings that moved towards each other would cancel out. */
export function stampOf(index: number): number {
  const mixed = Math.imul(index + 1, 0x85_eb_ca_6b)
  return (mixed ^ (mixed >>> 13)) | 0
}

/** Takes firings in any order. */
export class Firings {
  count = 0
  /** 32 bits */
  sum = 0
  readonly #at: { readonly stamp: number }

  /** `at`: the message at hand, for whoever fires */
  constructor(at: { readonly stamp: number }) {
    this.#at = at
  }

  add(weight: number): void {
    this.count++
    this.sum = (this.sum + Math.imul(weight, this.#at.stamp)) | 0
  }
}
