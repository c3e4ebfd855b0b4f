/** Ids in the order of time. */
import { machineTimers } from '#platform'

/**
 * A UUID version 7, which begins with its time. Consecutive ids are neighbours in the store, so that a commit touches
 * few pages.
 *
 * @param time epoch ms
 */
export function timeOrderedId(time: number): string {
  const at = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0').slice(-12)
  // the rest keeps its randomness and its variant
  return `${at.slice(0, 8)}-${at.slice(8)}-7${machineTimers.newId().slice(15)}`
}
