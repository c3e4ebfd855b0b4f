/** Implements the API of subscriptions to object changes. */
import { AppError, type KeyedMutex, makeIssue, refuse } from '#kernel'
import type { Collection, Store } from '#storage'
import { DEFAULT_EXPIRY, DEFAULT_KEYS, MAX_KEYS, type ObjectChanges, type ObjectsApi } from '../contract.ts'
import { type Outbox, showDelivery } from './outbox.ts'
import { type Seal, SEALED } from '#platform'
import {
  isRequested,
  keyOf,
  MAX_SUBSCRIPTIONS,
  queueOf,
  SUBSCRIPTIONS,
  type SubscriptionRecord,
} from './subscription-record.ts'
import {
  type DeliveryQuery,
  NewSubscription,
  type SentSubscription,
  type Subscription,
  SubscriptionInPlace,
  SubscriptionPath,
  type SubscriptionQuery,
} from './subscription-schema.ts'

export interface CallerSubscriptionsOptions {
  readonly tenant: string
  readonly store: Store
  readonly changes: ObjectChanges
  readonly api: ObjectsApi
  readonly outbox: Outbox
  readonly seal: Seal
  readonly system: ReadonlyMap<string, SubscriptionRecord>
  readonly newId: () => string
  /** mutex by bucket, so that concurrent changes respect the limit */
  readonly mutex: KeyedMutex
}

/** `bucket` is an alias or a name; `NOT_FOUND` when the bucket does not support subscriptions. Bodies are checked. */
export class CallerSubscriptions {
  readonly #options: CallerSubscriptionsOptions
  readonly #records: Collection<SubscriptionRecord>

  constructor(options: CallerSubscriptionsOptions) {
    this.#options = options
    this.#records = options.store.collection(SUBSCRIPTIONS)
  }

  /** `next`: pass as `start_after` to get the next page. */
  async list(bucket: string, query: SubscriptionQuery = {}) {
    const matching = (await this.#all(await this.#aliasOf(bucket))).filter((one) => isRequested(one, query))
    const { start_after: startAfter = '', max_keys: maxKeys = DEFAULT_KEYS } = query
    const from = matching.filter(({ id }) => id > startAfter)
    const page = from.slice(0, Math.min(maxKeys, MAX_KEYS))
    const last = page.at(-1)
    return { subscriptions: page.map(shownOf), ...(last && from.length > page.length && { next: last.id }) }
  }

  async get(bucket: string, id: string): Promise<Subscription> {
    return shownOf(await this.#known(await this.#aliasOf(bucket), id))
  }

  async create(bucket: string, body: unknown): Promise<Subscription> {
    const alias = await this.#aliasOf(bucket)
    const { id = this.#options.newId(), ...sent } = NewSubscription.read(body)
    return this.#one(alias, async () => {
      if ((await this.#find(alias, id)) !== undefined) {
        throw new AppError('CONFLICT', `The subscription ${id} already exists; PUT replaces it`)
      }
      return this.#write(alias, id, sent, undefined)
    })
  }

  async put(bucket: string, id: string, body: unknown): Promise<Subscription> {
    const alias = await this.#aliasOf(bucket)
    SubscriptionPath.read({ id })
    this.#refuseSystem(alias, id)
    const sent = SubscriptionInPlace.read(body)
    return this.#one(alias, async () => this.#write(alias, id, sent, await this.#find(alias, id)))
  }

  async remove(bucket: string, id: string): Promise<void> {
    const alias = await this.#aliasOf(bucket)
    this.#refuseSystem(alias, id)
    if (!(await this.#records.delete(keyOf(alias, id)))) throw noSubscription(alias, id)
  }

  async removeAll(
    bucket: string,
    query: SubscriptionQuery = {},
  ): Promise<{ readonly ids: readonly string[]; readonly next?: string }> {
    const alias = await this.#aliasOf(bucket)
    const { start_after: startAfter = '', max_keys: most = MAX_KEYS } = query
    const all = (await this.#all(alias)).filter((one) => one.id > startAfter && isRequested(one, query))
    const removable = all.filter(({ id }) => !this.#options.system.has(keyOf(alias, id)))
    const ids = removable.slice(0, Math.min(most, MAX_KEYS)).map(({ id }) => id)
    await this.#options.store.commit(ids.map((id) => this.#records.deleting(keyOf(alias, id))))
    const last = ids.at(-1)
    return { ids, ...(last !== undefined && removable.length > ids.length && { next: last }) }
  }

  /** Lists deliveries, newest first. `next`: pass as `before` to get the next page. */
  async deliveries(bucket: string, id: string, query: DeliveryQuery = {}) {
    const alias = await this.#aliasOf(bucket)
    await this.#known(alias, id)
    const limit = Math.min(query.max_keys ?? DEFAULT_KEYS, MAX_KEYS)
    const found = await this.#options.outbox.deliveries.find({
      where: [
        { field: 'subscription', op: 'eq', value: keyOf(alias, id) },
        ...(query.state === undefined ? [] : [{ field: 'state', op: 'eq', value: query.state } as const]),
        ...(query.before === undefined ? [] : [{ field: 'position', op: 'lt', value: query.before } as const]),
      ],
      sort: [{ field: 'position', descending: true }],
      limit: limit + 1,
    })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    return {
      deliveries: page.map((one) => showDelivery(one.id, one.value)),
      ...(last && found.length > limit && { next: last.value.change.position }),
    }
  }

  async #write(
    alias: string,
    id: string,
    { channel, filters, ...about }: SentSubscription,
    before: SubscriptionRecord | undefined,
  ): Promise<Subscription> {
    if (before === undefined) await this.#requireRoom(alias)
    const { payload, authentication } = channel
    const expiry = Object.entries(channel.expiry ?? {}).filter(([, length]) => length !== null)
    const record: SubscriptionRecord = {
      id,
      ...about,
      channel: {
        ...channel,
        expiry: expiry.length === 0 ? { seconds: DEFAULT_EXPIRY } : Object.fromEntries(expiry),
        payload: { ...payload, signed_links: [...new Set(payload.signed_links)] },
        authentication: this.#sealed(alias, id, { method: 'NONE', ...authentication }, before),
      },
      filters: filters.map(({ events = ['put'], ...filter }, i) => ({
        ...filter,
        events: [...new Set(events)],
        queue: queueOf(alias, id, i),
      })),
      bucket: alias,
      since: before?.since ?? (await this.#options.changes.bounds()).last,
    }
    await this.#records.put(keyOf(alias, id), record)
    return shownOf(record)
  }

  /** Seals a new secret. Sending back the sealed text of the current secret leaves it unchanged. */
  #sealed(
    alias: string,
    id: string,
    sent: Subscription['channel']['authentication'],
    before: SubscriptionRecord | undefined,
  ): Subscription['channel']['authentication'] {
    const { secret } = sent
    if (secret === undefined) return sent
    const known = before?.channel.authentication.secret
    if (secret === known) return sent
    if (secret.startsWith(SEALED)) {
      const message = 'is an encrypted secret of another subscription'
      const issue = makeIssue('BODY', '/channel/authentication/secret', message, 'send the plain secret')
      throw refuse('the subscription', [issue])
    }
    const { tenant, seal } = this.#options
    return { ...sent, secret: seal.close(secret, `${tenant}/${keyOf(alias, id)}`) }
  }

  async #requireRoom(alias: string): Promise<void> {
    const count = await this.#records.count([{ field: 'bucket', op: 'eq', value: alias }])
    if (count < MAX_SUBSCRIPTIONS) return
    throw new AppError('TOO_LARGE', `The bucket ${alias} has ${count} subscriptions, which is the maximum`)
  }

  async #all(alias: string): Promise<readonly SubscriptionRecord[]> {
    const found = await this.#records.find({
      where: [{ field: 'bucket', op: 'eq', value: alias }],
      limit: MAX_SUBSCRIPTIONS,
    })
    const builtIn = [...this.#options.system.values()].filter(({ bucket }) => bucket === alias)
    return [...builtIn, ...found.map(({ value }) => value)].toSorted((one, other) => (one.id < other.id ? -1 : 1))
  }

  async #known(alias: string, id: string): Promise<SubscriptionRecord> {
    const found = await this.#find(alias, id)
    if (found === undefined) throw noSubscription(alias, id)
    return found
  }

  async #find(alias: string, id: string): Promise<SubscriptionRecord | undefined> {
    const key = keyOf(alias, id)
    return this.#options.system.get(key) ?? (await this.#records.get(key))?.value
  }

  #refuseSystem(alias: string, id: string): void {
    if (!this.#options.system.has(keyOf(alias, id))) return
    throw new AppError('FORBIDDEN', `The subscription ${id} is built in and cannot be changed`)
  }

  async #aliasOf(bucket: string): Promise<string> {
    const { alias, hasSubscriptions } = await this.#options.api.bucket(bucket)
    if (hasSubscriptions) return alias
    throw new AppError(
      'NOT_FOUND',
      `The bucket ${alias} cannot have subscriptions: only services of the host write into it`,
    )
  }

  #one<T>(alias: string, work: () => Promise<T>): Promise<T> {
    return this.#options.mutex.run(alias, work)
  }
}

function noSubscription(alias: string, id: string): AppError {
  return new AppError('NOT_FOUND', `The bucket ${alias} has no subscription ${id.slice(0, 128)}`)
}

function shownOf({ bucket: _bucket, since: _since, ...shown }: SubscriptionRecord): Subscription {
  return shown
}
