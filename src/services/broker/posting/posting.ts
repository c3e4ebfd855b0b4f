/** Handles posts and commands: validates them, submits them to the log, and returns the result. */
import type { EffectLedger, EffectOfTask } from '#services/shared'
import { retryOnConflict } from '#kernel'
import type { Write } from '#storage'
import type { KeptForClients } from '../kept/kept-for-clients.ts'
import type { BatchIntake, Channel, CommandOutbox, Posted, PostingApi, PostOptions, TimeBounds } from '../contract.ts'
import { answerTo, answerToCommand } from './answer.ts'
import { hasEffect, type PublishRequest } from './publish-request.ts'
import type { PostKeys } from './idempotency.ts'
import type { IngestQueue } from './ingest-queue.ts'
import { readCommand, readPost } from './read-post.ts'

export interface PostingDependencies {
  readonly tenant: string
  readonly queue: IngestQueue
  readonly keys: PostKeys
  readonly effects: EffectLedger
  readonly outbox: () => CommandOutbox | undefined
  readonly kept: KeptForClients
  readonly bounds: TimeBounds
  /** epoch ms */
  readonly now: () => number
}

/** Makes a post idempotent, and orders it among the effects of its task. */
interface PostIdentity {
  readonly key: string
  readonly resource: string | undefined
  readonly cause: EffectOfTask | undefined
}

/** When two concurrent posts share a key, the second fails and finds the key of the first. */
const MAX_TRIES = 3

export class Posting implements PostingApi {
  readonly #dependencies: PostingDependencies

  constructor(dependencies: PostingDependencies) {
    this.#dependencies = dependencies
  }

  events(resource: string | undefined, body: unknown, options: PostOptions = {}): Promise<Posted> {
    const { idempotencyKey: key } = options
    return key === undefined ? this.#events(resource, body, options) : this.#eventsOnce(key, resource, body, options)
  }

  /** Keeps no reference to the body, so that it can be garbage-collected while the post waits. */
  async #events(resource: string | undefined, body: unknown, options: PostOptions): Promise<Posted> {
    const isList = Array.isArray(body)
    const { now, bounds } = this.#dependencies
    const read = readPost(resource, body, options, now(), bounds)
    return this.#submitted(read, (post) => answerTo(post, resource, isList))
  }

  #eventsOnce(key: string, resource: string | undefined, body: unknown, options: PostOptions): Promise<Posted> {
    const { bounds } = this.#dependencies
    const read = (now: number): PublishRequest => readPost(resource, body, options, now, bounds)
    const { store, forward, ttl, cause } = options
    const answer = (post: PublishRequest): Posted => answerTo(post, resource, Array.isArray(body))
    return this.#once({ key, resource, cause }, ['events', resource, store, forward, ttl, body], read, answer)
  }

  async command(
    resource: string,
    body: unknown,
    options: Pick<PostOptions, 'idempotencyKey' | 'hops' | 'root' | 'cause'> = {},
  ): Promise<Posted> {
    const read = (now: number): PublishRequest => readCommand(resource, body, options, now)
    const { idempotencyKey: key, cause } = options
    if (key === undefined) return this.#submitted(read(this.#dependencies.now()), answerToCommand)
    return this.#once({ key, resource, cause }, ['commands', resource, body], read, answerToCommand)
  }

  /** Posts a body, and retains its last message. */
  async retain(resource: string, channel: Channel, body: unknown, options: PostOptions = {}): Promise<Posted> {
    const { now, bounds } = this.#dependencies
    const isCommand = channel === 'commands'
    const read = isCommand
      ? readCommand(resource, body, options, now())
      : readPost(resource, body, options, now(), bounds)
    const answer = (post: PublishRequest): Posted =>
      isCommand ? answerToCommand(post) : answerTo(post, resource, Array.isArray(body))
    return this.#submitted({ ...read, retain: true }, answer)
  }

  /** Deletes the retained message of a topic, in the order of posts. */
  clear(clears: string, channel: Channel): Promise<void> {
    const post = {
      channel,
      clears,
      arrivals: [],
      arrived: this.#dependencies.now(),
      store: false,
      forward: false,
      hops: 0,
    }
    return this.#dependencies.queue.submit(post, this.#writesOf(post))
  }

  async #submitted(post: PublishRequest, answer: (post: PublishRequest) => Posted): Promise<Posted> {
    if (hasEffect(post)) await this.#dependencies.queue.submit(post, this.#writesOf(post))
    return answer(post)
  }

  readonly intake: BatchIntake = {
    read: (message, options = {}) => {
      const { now, bounds } = this.#dependencies
      return readPost(undefined, message, options, now(), bounds)
    },
    commit: async (messages, writes) => {
      await this.#dependencies.queue.submitAll(messages as readonly PublishRequest[], writes)
    },
  }

  async #once(
    { key, resource, cause }: PostIdentity,
    print: unknown,
    read: (now: number) => PublishRequest,
    answer: (post: PublishRequest) => Posted,
  ): Promise<Posted> {
    const { keys, effects, queue, now } = this.#dependencies
    return retryOnConflict(async () => {
      const post = read(now())
      const known = await keys.look(key, print, post.arrived)
      if (known.kind === 'done') {
        // the first post may be durable but not readable yet
        await queue.passed()
        return answer(read(known.at))
      }
      const draft = effects.draft(post.arrived)
      const admitted = await draft.admit(resource === undefined ? [] : [`resource:${resource}`], cause)
      admitted.note()
      await queue.submit(post, [known.write, ...draft.writes(), ...this.#writesOf(post)])
      return answer(post)
    }, MAX_TRIES)
  }

  #writesOf(post: PublishRequest): readonly Write[] {
    const { channel, arrivals, hops, root } = post
    const { kept, outbox } = this.#dependencies
    const [command] = arrivals
    const retained = kept.retained.planning(post)
    if (channel !== 'commands' || command === undefined) return retained
    const planned = outbox()?.planning(command.resource, command.message, hops, root) ?? []
    return [...retained, ...planned, ...kept.sessions.planning(command, post.retain === true)]
  }
}
