/**
 * Seeded random generator (mulberry32) whose whole state is an unsigned 32-bit number, so that a task can save it.
 * Not for secrets.
 */
export function nextSeed(seed: number): number {
  return (seed + 0x6d2b79f5) >>> 0
}

/** Returns the random number in [0, 1) for a seed. */
export function randomOf(seed: number): number {
  let t = seed
  t = Math.imul(t ^ (t >>> 15), t | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** Returns a 32-bit seed for a text (FNV-1a). */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
