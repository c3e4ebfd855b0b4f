/** A time on the command line. */
import { AppError } from '../../kernel/errors.ts'
import { msOf, otherUnitOf, unitName } from '../../kernel/epoch-unit.ts'
import { epochNumber, readTime } from '../../recording/read-time.ts'
import type { Zone } from './zone.ts'

/**
 * The instants that a text may mean, two for a clock reading that occurs twice. Throws `USAGE`, also for an epoch number
 * that is one of seconds or microseconds.
 */
export function readOneTime(text: string, zone: Zone): readonly number[] {
  const epoch = epochNumber(text)
  const unit = epoch === undefined ? undefined : otherUnitOf(epoch)
  if (epoch !== undefined && unit !== undefined) {
    throw new AppError('USAGE', `${text} is in ${unitName(unit)}; write it in milliseconds: ${msOf(epoch, unit)}`)
  }
  const reading = readTime(text, zone)
  if ('times' in reading) return reading.times
  throw new AppError('USAGE', `${reading.message}; ${reading.suggestion}`)
}
