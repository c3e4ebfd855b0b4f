/** Times and lengths of time in words. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Returns a length of time in its two largest units: `40 s`, `5 min`, `1 h 5 min`, `3 d 2 h`. */
export function lengthText(ms: number): string {
  const length = Math.max(0, Math.round(ms / 1_000) * 1_000)
  if (length < MINUTE) return `${length / 1_000} s`
  const [large, size, small, unit] =
    length < HOUR
      ? (['min', MINUTE, '', 0] as const)
      : length < DAY
        ? (['h', HOUR, 'min', MINUTE] as const)
        : (['d', DAY, 'h', HOUR] as const)
  const count = Math.floor(length / size)
  const rest = unit === 0 ? 0 : Math.floor((length % size) / unit)
  return rest === 0 ? `${count} ${large}` : `${count} ${large} ${rest} ${small}`
}

/** Returns the rest of a countdown: `12:05`, `1:02:03`, `2 d 3 h`. */
export function countdownText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  if (seconds >= 48 * 3_600) return lengthText(ms)
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const two = (number: number): string => String(number).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options })
  formats.set(key, made)
  return made
}

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const
const SECONDS = { ...CLOCK, second: '2-digit' } as const
const DATE = { day: 'numeric', month: 'short' } as const

/** Returns the time of the day: `18:30`. */
export function clockText(time: number, zone: string, withSeconds = false): string {
  return formatOf(zone, withSeconds ? SECONDS : CLOCK).format(time)
}

/** Returns the day: `15 Jan`, with the year if it is not that of `now`. */
export function dayText(time: number, zone: string, now: number): string {
  const year = formatOf(zone, { year: 'numeric' })
  return formatOf(zone, year.format(time) === year.format(now) ? DATE : { ...DATE, year: 'numeric' }).format(time)
}

/** Returns a point in time as short as it can be: `18:30` today, `14 Jan 18:30` on another day. */
export function timeText(time: number, zone: string, now: number, withSeconds = false): string {
  const day = formatOf(zone, { year: 'numeric', month: '2-digit', day: '2-digit' })
  const clock = clockText(time, zone, withSeconds)
  return day.format(time) === day.format(now) ? clock : `${dayText(time, zone, now)} ${clock}`
}

export function isZone(name: string): boolean {
  try {
    formatOf(name, CLOCK)
    return true
  } catch {
    return false
  }
}
