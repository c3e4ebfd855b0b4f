/** Formats an instant (epoch ms) with an offset (ms): `2026-03-29T03:30:00+02:00`. */
export function isoWithOffset(instant: number, offset: number): string {
  const local = new Date(instant + offset).toISOString()
  const shown = local.endsWith('.000Z') ? local.slice(0, -5) : local.slice(0, -1)
  return shown + offsetText(offset)
}

export function offsetText(offset: number): string {
  const seconds = Math.abs(Math.round(offset / 1000))
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  if (seconds % 60 !== 0) parts.push(seconds % 60)
  return (offset < 0 ? '-' : '+') + parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** Formats a local time (ms as if it were UTC): `2026-03-29T02:30:00`. */
export function isoLocal(local: number): string {
  return isoWithOffset(local, 0).slice(0, -6)
}
