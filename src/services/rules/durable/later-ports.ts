/** Ports whose answers go into the log of inputs, so that a replay gets the same ones. */
import type { Ports } from '#core'

/**
 * Ports that never answer at once. What the outside says may be something else when the log is played again, so that
 * each answer has to be an input of its own; and an answer is one when it comes later than its question.
 */
export function laterPorts({ metadata, secret, latestValue }: Ports): Ports {
  return {
    ...(metadata && { metadata: async (resource) => metadata(resource) }),
    ...(secret && { secret: async (key) => secret(key) }),
    ...(latestValue && { latestValue: async (resource, metric) => latestValue(resource, metric) }),
  }
}
