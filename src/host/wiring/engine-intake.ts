/** Messages of the broker reach tasks: `Forwarding` over the intake of their runner. */
import type { ForwardedPost, Forwarding } from '#services/broker/contract'

type Messages = ForwardedPost['messages']
type IntakePost = Omit<ForwardedPost, 'messages'> & { readonly messages: Messages | Messages[number] }
type Sent = Parameters<Forwarding['receive']>

/** The part of a runner that takes messages. */
export interface Intake {
  receiveAll(posts: readonly IntakePost[], writes: Sent[2], followed: Sent[3]): Promise<unknown>
}

export function engineIntake(intake: Intake): Forwarding {
  return { receive: (_tenant, posts, ...rest) => intake.receiveAll(posts.map(asTaken), ...rest) }
}

/** One message is logged and taken as such, which costs less than a list. */
function asTaken(post: ForwardedPost): IntakePost {
  const [one] = post.messages
  return post.messages.length === 1 && one !== undefined ? { ...post, messages: one } : post
}
