/** Implements the broker's `Forwarding` with the intake of a task runner. */
import type { ForwardedPost, Forwarding } from '#services/broker/contract'

type Messages = ForwardedPost['messages']
type IntakePost = Omit<ForwardedPost, 'messages'> & { readonly messages: Messages | Messages[number] }
type Received = Parameters<Forwarding['receive']>

export interface Intake {
  receive(posts: readonly IntakePost[], writes: Received[1], followed: Received[2]): Promise<unknown>
}

export function engineIntake(intake: Intake): Forwarding {
  return { receive: (posts, ...rest) => intake.receive(posts.map(asTaken), ...rest) }
}

/** Passes a single message on its own, which costs less to log and process than a list. */
function asTaken(post: ForwardedPost): IntakePost {
  const [one] = post.messages
  return post.messages.length === 1 && one !== undefined ? { ...post, messages: one } : post
}
