/** Reason codes of MQTT 5, and return codes of version 3. */
import { AppError } from '#kernel'

export const REASONS = {
  success: 0,
  noSubscription: 0x11,
  unspecified: 0x80,
  malformed: 0x81,
  protocol: 0x82,
  notHere: 0x83,
  unsupportedVersion: 0x84,
  badClientId: 0x85,
  badCredentials: 0x86,
  notAuthorized: 0x87,
  busy: 0x89,
  shuttingDown: 0x8b,
  badMethod: 0x8c,
  keepAlive: 0x8d,
  takenOver: 0x8e,
  badFilter: 0x8f,
  badTopic: 0x90,
  tooMany: 0x93,
  badAlias: 0x94,
  tooLarge: 0x95,
  rateTooHigh: 0x96,
  badPayload: 0x99,
  sharedSubscriptions: 0x9e,
} as const

export type Reason = (typeof REASONS)[keyof typeof REASONS]

export function returnCode(reason: Reason): number {
  switch (reason) {
    case REASONS.success:
      return 0
    case REASONS.unsupportedVersion:
      return 1
    case REASONS.badClientId:
      return 2
    case REASONS.badCredentials:
      return 4
    case REASONS.busy:
    case REASONS.shuttingDown:
      return 3
    default:
      return 5
  }
}

/** Returns the reason of a permanent rejection; undefined if sending the message again may succeed. */
export function refusalReason(error: unknown): Reason | undefined {
  if (!(error instanceof AppError) || error.status >= 500) return undefined
  if (error.code === 'RATE_LIMITED') return undefined
  return error.code === 'FORBIDDEN' || error.code === 'UNAUTHORIZED' ? REASONS.notAuthorized : REASONS.badPayload
}
