/** Messages of the broker reach tasks: `Forwarding` over the intake of whoever runs them. */
import type { ForwardedPost, Forwarding } from '#services/broker/contract'

type Messages = ForwardedPost['messages']
type Writes = Parameters<Forwarding['receive']>[2]

/** The part of a runner that takes messages. */
export interface Intake {
  receiveAll(tenant: string, posts: readonly IntakePost[], writes: Writes): Promise<readonly number[]>
}

type IntakePost = Omit<ForwardedPost, 'messages'> & { readonly messages: Messages | Messages[number] }

export function engineIntake(intake: Intake): Forwarding {
  return {
    async receive(tenant, posts, writes) {
      return { results: await intake.receiveAll(tenant, posts.map(asTaken), writes) }
    },
  }
}

/** One message is logged and taken as such, which costs less than a list. */
function asTaken(post: ForwardedPost): IntakePost {
  const [one] = post.messages
  return post.messages.length === 1 && one !== undefined ? { ...post, messages: one } : post
}
