/** Checksum of the firings of rules at messages: a sum that other sets of firings do not produce by chance. */

/** Factor of a rule, multiplied with the stamp of the message. Positive, and small for V8. */
export function weightOf(rule: number): number {
  return (Math.imul(rule + 1, 0x9e_37_79_b1) >>> 2) | 1
}

/** Stamp of a message; not proportional to its index, or two firings that move towards each other would cancel out. */
export function stampOf(index: number): number {
  const mixed = Math.imul(index + 1, 0x85_eb_ca_6b)
  return (mixed ^ (mixed >>> 13)) | 0
}

export class Firings {
  count = 0
  sum = 0
  readonly #at: { readonly stamp: number }

  /** `at`: the current message */
  constructor(at: { readonly stamp: number }) {
    this.#at = at
  }

  add(weight: number): void {
    this.count++
    this.sum = (this.sum + Math.imul(weight, this.#at.stamp)) | 0
  }
}
