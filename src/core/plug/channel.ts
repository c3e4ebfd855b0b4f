/** Checks names of channels. A channel delivers events, instead of broker data, to sensors. */
import { AppError, shown } from '#kernel'

const CHANNEL = /^[a-z][a-z0-9-]{0,39}$/
export const CHANNEL_RULE = 'a lower-case letter, then at most 39 lower-case letters, digits or -'

export function isChannel(name: unknown): name is string {
  return typeof name === 'string' && CHANNEL.test(name)
}

/** Checks the name of a channel. Throws `VALIDATION` if it is invalid. */
export function requireChannel(name: unknown): void {
  if (isChannel(name)) return
  throw new AppError('VALIDATION', `${shown(name)} is not a valid channel name; use ${CHANNEL_RULE}`)
}
