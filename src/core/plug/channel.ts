/** Names of channels, on which sensors hear events instead of data. */
import { AppError } from '#kernel'
import { shown } from './problem.ts'

const CHANNEL = /^[a-z][a-z0-9-]{0,39}$/
/** For error texts. */
export const CHANNEL_RULE = 'a lower-case letter, then at most 39 lower-case letters, digits or -'

/** Whether that can be the name of a channel. */
export function isChannel(name: unknown): name is string {
  return typeof name === 'string' && CHANNEL.test(name)
}

/** Throws `VALIDATION` for what no plug can listen to. */
export function requireChannel(name: unknown): void {
  if (isChannel(name)) return
  throw new AppError('VALIDATION', `${shown(name)} is no name of a channel; it is ${CHANNEL_RULE}`)
}
