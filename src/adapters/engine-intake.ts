/** Messages of the broker reach tasks: `Forwarding` over the intake of whoever runs them. */
import type { ForwardedPost, Forwarding } from '../services/broker/contract.ts'

type Messages = Parameters<Forwarding['receive']>[1]
type Writes = Parameters<NonNullable<Forwarding['receiveAll']>>[2]

/** The part of a runner that takes messages. */
export interface Intake {
  receive(
    tenant: string,
    messages: Messages | Messages[number],
    options: Parameters<Forwarding['receive']>[2],
  ): ReturnType<Forwarding['receive']>
  receiveAll(tenant: string, posts: readonly IntakePost[], writes: Writes): Promise<readonly number[]>
}

interface IntakePost {
  readonly messages: Messages | Messages[number]
  readonly hops?: number
}

export function engineIntake(intake: Intake): Forwarding {
  return {
    receive: (tenant, messages, options) => intake.receive(tenant, asTaken(messages), options),
    async receiveAll(tenant, posts, writes) {
      const all = posts.map(({ messages, hops = 0 }: ForwardedPost): IntakePost => {
        return hops > 0 ? { messages: asTaken(messages), hops } : { messages: asTaken(messages) }
      })
      return { results: await intake.receiveAll(tenant, all, writes) }
    },
  }
}

/** One message is logged and taken as such, which costs less than a list. */
function asTaken(messages: Messages): Messages | Messages[number] {
  const [one] = messages
  return messages.length === 1 && one !== undefined ? one : messages
}
