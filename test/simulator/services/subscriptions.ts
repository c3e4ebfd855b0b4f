/** Simulates subscriptions that call webscripts for each change of an object, in order, until the call succeeds. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { ScriptCall } from '../world/script-calls.ts'
import type { World } from '../world/world.ts'
import { OBJECT_BUCKET, OBJECT_PATHS } from './objects.ts'
import type { ServiceModel, Shared, SimulatedService } from './simulated-service.ts'

const SUBSCRIPTIONS = '/storage/v1/subscription'
/** folders of objects, each with a subscription of the same name */
const FOLDERS = [...new Set(OBJECT_PATHS.map((path) => path.slice(0, path.indexOf('/'))))]
const ORACLE = 'subscriptions tell of each change'
/** attempts before a delivery is given up: more than the outside world lets fail */
const ATTEMPTS = 10

export const subscriptions: SimulatedService = {
  name: 'subscriptions',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.05,
  livesOn: ['objects'],
  needs: ['objects', 'subscriptions', 'webscripts'],
  asks: [`POST ${SUBSCRIPTIONS}/:bucket`, `GET ${SUBSCRIPTIONS}/:bucket/:id/deliveries`],
  operations: {
    look: { weight: 3, draw: (chance) => ({ folder: chance.of(FOLDERS) }) },
  },
  variants: FOLDERS,
  model: (world, shared, variants) => new Subscriptions(world, shared, variants),
}

/** A delivery as the host shows it. */
interface Delivery {
  /** ids follow the order of the changes */
  readonly id: string
  readonly state: 'waiting' | 'active' | 'delivered' | 'failed'
  /** path of the object */
  readonly object: string
  readonly attempts: number
  readonly last_error?: { readonly message: string }
}

/** A tenant's subscription to the changes in a folder. */
interface Subscription {
  readonly tenant: string
  readonly folder: string
}

class Subscriptions implements ServiceModel {
  readonly #world: World
  readonly #shared: Shared
  readonly #folders: readonly string[]
  /** ms at which a delivery was first seen as ended, by tenant and id */
  readonly #ended = new Map<string, number>()

  constructor(world: World, shared: Shared, folders: readonly string[]) {
    this.#world = world
    this.#shared = shared
    this.#folders = folders
  }

  async prepare(tenant: string): Promise<void> {
    for (const folder of this.#folders) {
      const call = { type: 'webscript', name: folder, method: 'POST', authentication: { method: 'NONE' } }
      const channel = { ...call, payload: { signed_links: [] } }
      const body = { id: folder, channel, filters: [{ prefix: `${folder}/`, events: ['put', 'delete'] }] }
      await this.#world.look({ method: 'POST', url: `${SUBSCRIPTIONS}/${OBJECT_BUCKET}`, tenant, body })
    }
  }

  act(_name: string, tenant: string, given: JsonObject): void {
    const folder = given['folder'] as string
    if (!this.#folders.includes(folder)) return
    this.#world.work(`deliveries of ${folder} ${tenant}`, async () => {
      const { kind, answer } = await this.#world.ask(questionOf({ tenant, folder }))
      if (kind === 'answered') this.#seen({ tenant, folder }, answer.body)
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const folder of this.#folders) {
      const subscription = { tenant, folder }
      const { body } = await this.#world.look(questionOf(subscription))
      const deliveries = this.#seen(subscription, body)
      for (const path of OBJECT_PATHS.filter((one) => one.startsWith(`${folder}/`))) {
        const own = deliveries.filter(({ object }) => object === path)
        this.#verifyObject(subscription, path, own)
      }
      const ids = new Set(deliveries.map(({ id }) => id))
      for (const { key } of this.#calls(subscription)) {
        if (!ids.has(key)) this.#find(subscription, `was called for ${key}, which is no delivery`)
      }
    }
  }

  /** Checks a list of deliveries, oldest first: an ended one is not called again, and keeps its result. */
  #seen({ tenant, folder }: Subscription, body: unknown): readonly Delivery[] {
    const { now } = this.#world
    const { deliveries } = body as { deliveries: readonly Delivery[] }
    for (const { id, state } of deliveries) {
      const key = `${tenant} ${id}`
      const hasEnded = state === 'delivered' || state === 'failed'
      if (hasEnded && !this.#ended.has(key)) this.#ended.set(key, now)
      if (!hasEnded && this.#ended.has(key)) this.#find({ tenant, folder }, `shows ${id} as ${state}, which had ended`)
    }
    return deliveries.toReversed()
  }

  #verifyObject(subscription: Subscription, path: string, deliveries: readonly Delivery[]): void {
    const object = this.#shared.objects.find((one) => one.tenant === subscription.tenant && one.path === path)
    const { least, most, etag } = object ?? { least: 0, most: 0 }
    const { length } = deliveries
    if (length < least || length > most)
      this.#find(subscription, `shows ${length} changes of ${path}; from ${least} to ${most} would be right`)
    /** ms at which the last call for earlier changes began or succeeded */
    let over = 0
    for (const delivery of deliveries) {
      const calls = this.#callsOf(subscription, delivery)
      this.#verifyEnd(subscription, delivery, calls)
      if (calls.some(({ at }) => at < over)) this.#find(subscription, `was called for ${delivery.id} before its turn`)
      for (const { at, doneAt = at } of calls) over = Math.max(over, doneAt)
    }
    const last = deliveries.at(-1)
    const call = last && this.#callsOf(subscription, last).at(-1)
    if (last?.state !== 'delivered' || call === undefined || etag === undefined) return
    const { event, object: shown } = call.sent as { event: string; object: { etag?: string } }
    const isRight = etag === null ? event === 'delete' : event === 'put' && shown.etag === etag
    if (!isRight)
      this.#find(subscription, `was told last of ${path}: ${event} ${shown.etag}; its etag is ${etag ?? 'none'}`)
  }

  #verifyEnd(subscription: Subscription, delivery: Delivery, calls: readonly ScriptCall[]): void {
    const { id, state, attempts, last_error: error } = delivery
    if (state === 'waiting' || state === 'active')
      this.#find(subscription, `shows ${id} as ${state} when all is at rest`)
    if (state === 'failed' && (attempts < ATTEMPTS || error === undefined))
      this.#find(subscription, `gave ${id} up after ${attempts} attempts: ${error?.message}`)
    if (state === 'delivered' && calls.every(({ doneAt }) => doneAt === undefined))
      this.#find(subscription, `shows ${id} as delivered, and nobody was called who took it`)
    const endedAt = this.#ended.get(`${subscription.tenant} ${id}`) ?? Infinity
    const late = calls.find(({ at }) => at > endedAt)
    if (late !== undefined)
      this.#find(subscription, `was called for ${id} at ${late.at}, which had ended at ${endedAt}`)
  }

  #callsOf(subscription: Subscription, { id }: Delivery): readonly ScriptCall[] {
    return this.#calls(subscription).filter(({ key }) => key === id)
  }

  #calls({ tenant, folder }: Subscription): readonly ScriptCall[] {
    return this.#world.scripts.list.filter((one) => one.tenant === tenant && one.script === folder)
  }

  #find({ tenant, folder }: Subscription, text: string): void {
    this.#world.find(ORACLE, `the subscription ${folder} of ${tenant} ${text}`)
  }
}

function questionOf({ tenant, folder }: Subscription) {
  return {
    method: 'GET',
    url: `${SUBSCRIPTIONS}/${OBJECT_BUCKET}/${folder}/deliveries?max_keys=1000`,
    tenant,
  } as const
}
