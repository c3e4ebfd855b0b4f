/** What a caller can do with the subscriptions of its tenant. */
import { AppError, Issues, type KeyedMutex } from '#kernel'
import type { Collection, Store } from '#storage'
import { DEFAULT_KEYS, MAX_KEYS, type ObjectsApi, type OperatedObjects } from '../contract.ts'
import type {
  DeliveryPage,
  DeliveryQuery,
  Subscription,
  SubscriptionPage,
  SubscriptionQuery,
  SubscriptionsApi,
} from './contract.ts'
import { showDelivery } from './delivery-record.ts'
import type { Outbox } from './outbox.ts'
import { checkId, namedId, readSubscription } from './read-subscription.ts'
import { type Seal, SEALED } from '#platform'
import { isAsked, keyOf, MAX_SUBSCRIPTIONS, SUBSCRIPTIONS, type SubscriptionRecord } from './subscription-record.ts'

export interface TenantSubscriptionsOptions {
  readonly tenant: string
  readonly store: Store
  readonly objects: OperatedObjects
  readonly api: ObjectsApi
  readonly outbox: Outbox
  readonly seal: Seal
  /** those that the host has by itself, by key */
  readonly system: ReadonlyMap<string, SubscriptionRecord>
  readonly newId: () => string
  /** of all that change subscriptions: one at a time for a bucket, so that their number stays within its bound */
  readonly mutex: KeyedMutex
}

export class TenantSubscriptions implements SubscriptionsApi {
  readonly #options: TenantSubscriptionsOptions
  readonly #records: Collection<SubscriptionRecord>

  constructor(options: TenantSubscriptionsOptions) {
    this.#options = options
    this.#records = options.store.collection(SUBSCRIPTIONS)
  }

  async list(bucket: string, query: SubscriptionQuery = {}): Promise<SubscriptionPage> {
    const asked = (await this.#all(await this.#aliasOf(bucket))).filter((one) => isAsked(one, query))
    const { startAfter = '', maxKeys = DEFAULT_KEYS } = query
    const from = asked.filter(({ id }) => id > startAfter)
    const page = from.slice(0, Math.min(maxKeys, MAX_KEYS))
    const last = page.at(-1)
    return { subscriptions: page.map(shownOf), ...(last && from.length > page.length && { next: last.id }) }
  }

  async get(bucket: string, id: string): Promise<Subscription> {
    return shownOf(await this.#known(await this.#aliasOf(bucket), id))
  }

  async create(bucket: string, body: unknown): Promise<Subscription> {
    const alias = await this.#aliasOf(bucket)
    const id = namedId(body) ?? this.#options.newId()
    const sent = readSubscription(alias, id, body)
    return this.#one(alias, async () => {
      if ((await this.#find(alias, id)) !== undefined) {
        throw new AppError('CONFLICT', `There is a subscription ${id} already; PUT replaces it`)
      }
      return this.#write(alias, sent, undefined)
    })
  }

  async put(bucket: string, id: string, body: unknown): Promise<Subscription> {
    const alias = await this.#aliasOf(bucket)
    const issues = new Issues('PATH')
    checkId(issues, '/id', id)
    issues.throwIfAny('the address')
    this.#refuseSystem(alias, id)
    const sent = readSubscription(alias, id, body)
    return this.#one(alias, async () => this.#write(alias, sent, await this.#find(alias, id)))
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
    const most = Math.min(query.maxKeys ?? MAX_KEYS, MAX_KEYS)
    const { startAfter = '' } = query
    const all = (await this.#all(alias)).filter((one) => one.id > startAfter && isAsked(one, query))
    const own = all.filter(({ id }) => !this.#options.system.has(keyOf(alias, id)))
    const ids = own.slice(0, most).map(({ id }) => id)
    await this.#options.store.commit(ids.map((id) => this.#records.deleting(keyOf(alias, id))))
    const last = ids.at(-1)
    return { ids, ...(last !== undefined && own.length > ids.length && { next: last }) }
  }

  async deliveries(bucket: string, id: string, query: DeliveryQuery = {}): Promise<DeliveryPage> {
    const alias = await this.#aliasOf(bucket)
    await this.#known(alias, id)
    const limit = Math.min(query.maxKeys ?? DEFAULT_KEYS, MAX_KEYS)
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
      ...(last && found.length > limit && { next: last.value.position }),
    }
  }

  async #write(alias: string, sent: Subscription, before: SubscriptionRecord | undefined): Promise<Subscription> {
    if (before === undefined) await this.#requireRoom(alias)
    const { authentication } = sent.channel
    const record: SubscriptionRecord = {
      ...sent,
      channel: { ...sent.channel, authentication: this.#sealed(alias, sent.id, authentication, before) },
      bucket: alias,
      since: before?.since ?? (await this.#options.objects.changes(this.#options.tenant).bounds()).last,
    }
    await this.#records.put(keyOf(alias, sent.id), record)
    return shownOf(record)
  }

  /** The sealed text that was shown stands for the secret that is there. */
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
      const issues = new Issues('BODY')
      const path = '/channel/authentication/secret'
      issues.wrong(path, 'is a sealed secret that this subscription does not have', 'send the secret itself')
      issues.throwIfAny('the subscription')
    }
    const { tenant, seal } = this.#options
    return { ...sent, secret: seal.close(secret, `${tenant}/${keyOf(alias, id)}`) }
  }

  async #requireRoom(alias: string): Promise<void> {
    const count = await this.#records.count([{ field: 'bucket', op: 'eq', value: alias }])
    if (count < MAX_SUBSCRIPTIONS) return
    throw new AppError('TOO_LARGE', `The bucket ${alias} has ${count} subscriptions, which is as many as it may have`)
  }

  /** By id. */
  async #all(alias: string): Promise<readonly SubscriptionRecord[]> {
    const found = await this.#records.find({
      where: [{ field: 'bucket', op: 'eq', value: alias }],
      limit: MAX_SUBSCRIPTIONS,
    })
    const own = [...this.#options.system.values()].filter(({ bucket }) => bucket === alias)
    return [...own, ...found.map(({ value }) => value)].toSorted((one, other) => (one.id < other.id ? -1 : 1))
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
    throw new AppError('FORBIDDEN', `The subscription ${id} is the host's own, and stays as it is`)
  }

  async #aliasOf(bucket: string): Promise<string> {
    const { alias, hasSubscriptions } = await this.#options.api.bucket(bucket)
    if (hasSubscriptions) return alias
    throw new AppError('NOT_FOUND', `The bucket ${alias} has no subscriptions: only services of the host write into it`)
  }

  #one<T>(alias: string, work: () => Promise<T>): Promise<T> {
    return this.#options.mutex.run(`${this.#options.tenant}/${alias}`, work)
  }
}

function noSubscription(alias: string, id: string): AppError {
  return new AppError('NOT_FOUND', `The bucket ${alias} has no subscription ${id.slice(0, 128)}`)
}

function shownOf({ bucket: _bucket, since: _since, ...shown }: SubscriptionRecord): Subscription {
  return shown
}
