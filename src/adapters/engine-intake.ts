/** Messages of the broker reach tasks: `Forwarding` over the intake of whoever runs them. */
import type { Forwarding } from '../services/broker/contract.ts'

type Messages = Parameters<Forwarding['receive']>[1]

/** The part of a runner that takes messages. */
export interface Intake {
  receive(
    tenant: string,
    messages: Messages | Messages[number],
    options: Parameters<Forwarding['receive']>[2],
  ): ReturnType<Forwarding['receive']>
}

export function engineIntake(intake: Intake): Forwarding {
  return {
    receive(tenant, messages, options) {
      const [one] = messages
      // one message is logged and taken as such, which costs less than a list
      return intake.receive(tenant, messages.length === 1 && one !== undefined ? one : messages, options)
    },
  }
}
