/** When the values of a message were measured. */
import { isoInstant } from '#kernel'
import type { PlugContext } from './plug.ts'

/**
 * When the values of the message at hand were measured, epoch ms: its own `timestamp` (epoch ms or ISO 8601), but never
 * later than the engine's clock. The engine's clock for a message without one that can be read, and without a message.
 */
export function sampleTime(context: Pick<PlugContext, 'isNew' | 'streamValue' | 'now'>): number {
  const { now } = context
  if (!context.isNew('timestamp')) return now
  const given = context.streamValue('timestamp')
  const time = typeof given === 'string' ? isoInstant(given) : given
  return typeof time === 'number' && Number.isFinite(time) ? Math.min(time, now) : now
}
