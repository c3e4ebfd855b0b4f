/** Generates ids that sort by time. */
import { machineTimers } from '#platform'

/** `time`: epoch ms. Consecutive ids are adjacent in the store, so that a commit changes few pages. */
export function timeOrderedId(time: number): string {
  const at = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0').slice(-12)
  return `${at.slice(0, 8)}-${at.slice(8)}-7${machineTimers.newId().slice(15)}`
}
