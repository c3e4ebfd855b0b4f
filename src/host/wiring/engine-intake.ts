/** `Forwarding` of the broker over the intake of a runner of tasks. */
import type { ForwardedPost, Forwarding } from '#services/broker/contract'

type Messages = ForwardedPost['messages']
type IntakePost = Omit<ForwardedPost, 'messages'> & { readonly messages: Messages | Messages[number] }
type Received = Parameters<Forwarding['receive']>

/** The part of a runner that takes messages. */
export interface Intake {
  receive(posts: readonly IntakePost[], writes: Received[1], followed: Received[2]): Promise<unknown>
}

export function engineIntake(intake: Intake): Forwarding {
  return { receive: (posts, ...rest) => intake.receive(posts.map(asTaken), ...rest) }
}

/** A single message is logged and taken as such, which costs less than a list. */
function asTaken(post: ForwardedPost): IntakePost {
  const [one] = post.messages
  return post.messages.length === 1 && one !== undefined ? { ...post, messages: one } : post
}
