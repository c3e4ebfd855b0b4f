/** The instant that the screen shows: now, or one in the past that the address names. */
import { computed } from '@preact/signals'
import { now } from './connection.ts'
import { query, setQuery } from './router.ts'

/** epoch ms of the past, or null: live */
export const past = computed(() => {
  const at = Number(query.value.get('at') ?? Number.NaN)
  return Number.isFinite(at) ? at : null
})

export const instant = computed(() => past.value ?? now.value)

export function showAt(time: number | null): void {
  setQuery({ at: time === null ? undefined : Math.round(time) })
}
