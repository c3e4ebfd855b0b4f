/**
 * Stores which devices are connected over MQTT, as the attribute `presence` of their resources.
 *
 * PRESENCE-1 a device that was connected when its host died becomes offline, unless it returns within a minute
 * PRESENCE-2 a device with several connections is offline when the last one ends
 */
import { AppError, KeyedMutex } from '#kernel'
import type { InternalResources } from '#services/resources/contract'
import { type Collection, type CollectionSpec, portions, type Store } from '#storage'

/** A connected device, by the id of its resource. */
interface OnlineDevice {
  readonly user: string
}

const ONLINE: CollectionSpec<OnlineDevice> = { name: 'online_devices', version: 1, fields: {} }
const RETURN_MS = 60_000
const PORTION = 500

export interface PresenceDependencies {
  readonly tenant: string
  readonly store: Store
  readonly resources: () => Pick<InternalResources, 'as'> | undefined
  readonly later: (ms: number, work: () => void) => () => void
  readonly report: (what: string, error: unknown) => void
}

export interface PresentClient {
  readonly clientId: string
  readonly user: string
}

export class Presence {
  readonly #dependencies: PresenceDependencies
  readonly #online: Collection<OnlineDevice>
  /** Ids of connected clients by resource */
  readonly #here = new Map<string, Set<string>>()
  readonly #lanes = new KeyedMutex()
  #cancel: (() => void) | undefined

  constructor(dependencies: PresenceDependencies) {
    this.#dependencies = dependencies
    this.#online = dependencies.store.collection(ONLINE)
  }

  start(): void {
    const { later, report } = this.#dependencies
    this.#cancel = later(RETURN_MS, () => {
      this.#removeAbsent().catch((error: unknown) => report('the presence of devices was not stored', error))
    })
  }

  stop(): void {
    this.#cancel?.()
  }

  change(resource: string, { clientId, user }: PresentClient, isOnline: boolean): Promise<void> {
    const clients = this.#here.get(resource) ?? new Set()
    if (isOnline) this.#here.set(resource, clients.add(clientId))
    else if (clients.delete(clientId) && clients.size === 0) this.#here.delete(resource)
    return this.#lanes.run(resource, async () => {
      if (isOnline) await this.#online.put(resource, { user })
      else if (this.#here.has(resource)) return
      await this.#note(resource, user, isOnline)
      if (!isOnline) await this.#online.delete(resource)
    })
  }

  async #removeAbsent(): Promise<void> {
    for await (const portion of portions(this.#online, [], PORTION)) {
      for (const { id, value } of portion) {
        await this.#lanes.run(id, async () => {
          if (this.#here.has(id)) return
          await this.#note(id, value.user, false)
          await this.#online.delete(id)
        })
      }
    }
  }

  async #note(resource: string, user: string, isOnline: boolean): Promise<void> {
    const { tenant, resources } = this.#dependencies
    const api = resources()?.as({ tenant, user }).resources
    const change = { presence: isOnline ? 'online' : 'offline' }
    try {
      await api?.patch(resource, change)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
      // the device has not published anything yet, or its resource was removed
      if (isOnline) await api?.create({ id: resource, ...change })
    }
  }
}
