/** Computes a checksum of the firings at messages, which other sets of firings do not match by chance. */

/** Returns a rule's factor, to multiply with the stamp of the message. It is positive, and small for V8. */
export function weightOf(rule: number): number {
  return (Math.imul(rule + 1, 0x9e_37_79_b1) >>> 2) | 1
}

/** Not proportional to the index, because two firings that shift in opposite directions would then cancel out. */
export function stampOf(index: number): number {
  const mixed = Math.imul(index + 1, 0x85_eb_ca_6b)
  return (mixed ^ (mixed >>> 13)) | 0
}

export class Firings {
  count = 0
  sum = 0
  readonly #at: { readonly stamp: number }

  constructor(at: { readonly stamp: number }) {
    this.#at = at
  }

  add(weight: number): void {
    this.count++
    this.sum = (this.sum + Math.imul(weight, this.#at.stamp)) | 0
  }
}
