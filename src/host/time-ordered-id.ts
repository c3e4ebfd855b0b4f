/** Generates ids that sort by time. */
import { machineTimers } from '#platform'

/**
 * Returns a UUID version 7, which begins with its time. Consecutive ids are adjacent in the store, so that a commit
 * changes few pages.
 *
 * @param time epoch ms
 */
export function timeOrderedId(time: number): string {
  const at = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0').slice(-12)
  // the rest of the id keeps its random bits and its variant
  return `${at.slice(0, 8)}-${at.slice(8)}-7${machineTimers.newId().slice(15)}`
}
