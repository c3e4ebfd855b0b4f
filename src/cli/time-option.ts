/** Reads a time from the command line. */
import { AppError, msOf, otherUnitOf, unitName } from '#kernel'
import { epochNumber, readTime } from '#formats/recording'
import type { Zone } from './zone.ts'

/** Two for a repeated clock reading. Throws `USAGE`, also for an epoch number in seconds or microseconds. */
export function readOneTime(text: string, zone: Zone): readonly number[] {
  const epoch = epochNumber(text)
  const unit = epoch === undefined ? undefined : otherUnitOf(epoch)
  if (epoch !== undefined && unit !== undefined) {
    throw new AppError('USAGE', `${text} seems to be in ${unitName(unit)}; write milliseconds: ${msOf(epoch, unit)}`)
  }
  const reading = readTime(text, zone)
  if ('times' in reading) return reading.times
  throw new AppError('USAGE', `${reading.message}; ${reading.suggestion}`)
}

export function timeOf(text: string, zone: Zone): number {
  const [time] = readOneTime(text, zone)
  if (time !== undefined) return time
  throw new AppError('USAGE', `"${text}" is not a time`)
}

/** Reads two times separated by .., the earlier one first. Throws `USAGE`. */
export function spanOf(text: string, zone: Zone): { from: number; to: number } {
  const [from, to, ...more] = text.split('..')
  if (from === undefined || to === undefined || more.length > 0) {
    throw new AppError(
      'USAGE',
      `"${text}" is not a valid range; write two times separated by .., such as 2026-03-28..2026-03-30`,
    )
  }
  const down = { from: timeOf(from, zone), to: timeOf(to, zone) }
  if (down.to <= down.from) throw new AppError('USAGE', `"${text}" ends before it begins; write the earlier time first`)
  return down
}
