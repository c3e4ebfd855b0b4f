/** `ttl` of a post (ISO 8601 besides). */
import { AppError, durationMs } from '#kernel'

const SHORT = /^(\d{1,15})([wdhms])$/
const UNIT: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
/** epoch ms that a Date can hold */
const LAST = 8_640_000_000_000_000

export const TIME_TO_LIVE_FORM = 'write seconds such as 3600, a number with one of w, d, h, m, s such as 42m, or PT42M'

/** ms; `undefined` for anything else. Zero is no limit. */
export function timeToLive(given: string | number): number | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) && given >= 0 ? within(given * 1000) : undefined
  if (/^\d{1,15}$/.test(given)) return within(Number(given) * 1000)
  const short = SHORT.exec(given)
  if (short) return within(Number(short[1]) * (UNIT[short[2] ?? ''] ?? Number.NaN))
  return given.startsWith('P') ? within(isoMs(given)) : undefined
}

function isoMs(text: string): number {
  try {
    return durationMs(text)
  } catch (error) {
    if (error instanceof AppError) return Number.NaN
    throw error
  }
}

function within(ms: number): number | undefined {
  return ms >= 0 && ms < LAST / 2 ? Math.ceil(ms) : undefined
}
