/** Handles posts and commands: validates them, submits them to the log, and returns the result. */
import type { EffectLedger, EffectOfTask } from '#services/shared'
import { parseWritten, retryOnConflict } from '#kernel'
import type { Write } from '#storage'
import type { KeptForClients } from '../kept/kept-for-clients.ts'
import type {
  BatchIntake,
  BrokerMessage,
  Channel,
  CommandOutbox,
  Posted,
  PostingApi,
  PostOptions,
  TimeBounds,
} from '../contract.ts'
import { answerTo, answerToCommand } from './answer.ts'
import { hasEffect, type IncomingMessage, type PublishRequest } from './publish-request.ts'
import { isOfOthers, splitPost, type BrokerPartition } from '../partitions/broker-partition.ts'
import { digestOf, type PostKeys } from './idempotency.ts'
import type { IngestQueue } from './ingest-queue.ts'
import { readCommand, readPost } from './read-post.ts'

export interface PostingDependencies {
  readonly tenant: string
  readonly queue: IngestQueue
  readonly keys: PostKeys
  readonly effects: EffectLedger
  readonly outbox: () => CommandOutbox | undefined
  readonly kept?: KeptForClients | undefined
  /** absent: the tenant is not partitioned */
  readonly partition?: BrokerPartition | undefined
  /** resolves once all earlier posts of this partition can be read */
  readonly readable: () => Promise<void>
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
    if (hasEffect(post)) await this.#submit(post, this.#writesOf(post))
    return answer(post)
  }

  async take(sent: PublishRequest, key: string | undefined): Promise<void> {
    // integers beyond the precision of a number are only in the texts
    const post = { ...sent, arrivals: sent.arrivals.map(rewritten) }
    if (key === undefined) return this.#dependencies.queue.submit(post)
    const print = post.arrivals.map(({ resource, text }) => [resource, text])
    const once = { key, resource: undefined, cause: undefined }
    await this.#once(once, ['taken', print], () => post, answerToCommand)
  }

  readonly intake: BatchIntake = {
    read: (message, options = {}) => {
      const { now, bounds } = this.#dependencies
      return readPost(undefined, message, options, now(), bounds)
    },
    commit: async (messages, writes) => {
      const posts = messages as readonly PublishRequest[]
      const { queue, partition } = this.#dependencies
      if (partition === undefined) return queue.submitAll(posts, writes)
      await Promise.all(posts.slice(0, -1).map((post) => this.#submit(post, [])))
      for (const post of posts.slice(-1)) await this.#submit(post, writes)
    },
  }

  /** Submits the parts of other partitions first: if one is rejected, the post can be repeated with its key. */
  async #submit(post: PublishRequest, writes: readonly Write[], key?: string): Promise<void> {
    const { queue, partition } = this.#dependencies
    if (partition === undefined) return queue.submit(post, writes)
    const { local, others } = splitPost(post, partition)
    const parts = others.map(([at, part]) =>
      partition.ask(at, {
        ask: 'take',
        post: part,
        ...(key !== undefined && { key: `${digestOf(key)} ${at}` }),
      }),
    )
    if (parts.length > 0) await Promise.all(parts)
    if (hasEffect(local) || writes.length > 0) await queue.submit(local, writes)
    // a read goes to the partition of the resource, which must see the post
    if (isOfOthers(local, partition)) await this.#dependencies.readable()
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
      await this.#submit(post, [known.write, ...draft.writes(), ...this.#writesOf(post)], key)
      return answer(post)
    }, MAX_TRIES)
  }

  #writesOf(post: PublishRequest): readonly Write[] {
    const { channel, arrivals, hops, root } = post
    const { kept, outbox } = this.#dependencies
    const [command] = arrivals
    const retained = kept?.retained.planning(post) ?? []
    if (channel !== 'commands' || command === undefined) return retained
    const planned = outbox()?.planning(command.resource, command.message, hops, root) ?? []
    return [...retained, ...planned, ...(kept?.sessions.planning(command, post.retain === true) ?? [])]
  }
}

function rewritten(incoming: IncomingMessage): IncomingMessage {
  return { ...incoming, message: parseWritten(incoming.text) as BrokerMessage }
}
