/** Describes who makes a request, and which chain of rules caused it. */
import type { Rights } from './rights.ts'

export interface Causation {
  readonly hops: number
  /** id of the message or event that began the chain */
  readonly root?: string
}

export interface Caller {
  readonly tenant: string
  /** API key, or subject of a token; `system/engine` for rules, `system/broker` for discovery */
  readonly user: string
  /** absent: a part of the host, which has all rights */
  readonly rights?: Rights
}
