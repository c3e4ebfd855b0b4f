/** Determines when the values of a message were measured. */
import { isoInstant } from '#kernel'
import type { PlugContext } from './plug.ts'

/**
 * Returns epoch ms: the `timestamp` of the message (epoch ms or ISO 8601), capped at the engine's clock; the clock when
 * the timestamp is missing or malformed, or without a message.
 */
export function sampleTime(context: Pick<PlugContext, 'isNew' | 'streamValue' | 'now'>): number {
  const { now } = context
  if (!context.isNew('timestamp')) return now
  const stamp = context.streamValue('timestamp')
  const time = typeof stamp === 'string' ? isoInstant(stamp) : stamp
  return typeof time === 'number' && Number.isFinite(time) ? Math.min(time, now) : now
}
