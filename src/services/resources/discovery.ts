/** Discovers resources from their messages: creates unknown resources and records the time of contact. */
import { isAddressable } from '#services/shared'
import { isStoreConflict } from '#kernel'
import type { ChangeRecorder } from './change-recorder.ts'
import type { SeenResource } from './contract.ts'
import type { ResourceRecord } from './resource-record.ts'
import type { TenantResources } from './tenant-resources.ts'

const FINDER = 'system/broker'
const MAX_KNOWN = 1_000_000
const PORTION = 200

export class Discovery {
  readonly #recorder: ChangeRecorder
  readonly #tenantResources: TenantResources
  readonly #finding = new Map<string, Promise<void>>()

  constructor(recorder: ChangeRecorder, tenantResources: TenantResources) {
    this.#recorder = recorder
    this.#tenantResources = tenantResources
  }

  discover(seen: readonly SeenResource[]): Promise<void> | undefined {
    let strangers: Map<string, SeenResource> | undefined
    for (const each of seen) {
      const { resource, time } = each
      this.#tenantResources.lastSeen.contacted(resource, time)
      if (this.#tenantResources.known.has(resource)) continue
      strangers ??= new Map()
      // keep the first message of each
      if (!strangers.has(resource)) strangers.set(resource, each)
    }
    return strangers && this.#meet([...strangers.values()])
  }

  /** Looks up each id only once for concurrent callers. */
  async #meet(strangers: readonly SeenResource[]): Promise<void> {
    const waiting = new Set<Promise<void>>()
    const fresh = strangers.filter(({ resource }) => {
      const under = this.#finding.get(resource)
      if (under !== undefined) waiting.add(under)
      return under === undefined
    })
    for (let at = 0; at < fresh.length; at += PORTION) {
      const portion = fresh.slice(at, at + PORTION)
      const finding = this.#find(portion).finally(() => {
        for (const { resource } of portion) this.#finding.delete(resource)
      })
      for (const { resource } of portion) this.#finding.set(resource, finding)
      waiting.add(finding)
    }
    await Promise.all(waiting)
  }

  async #find(portion: readonly SeenResource[]): Promise<void> {
    const { resources } = this.#tenantResources.collections
    const there = new Set((await resources.getMany(portion.map(({ resource }) => resource))).map(({ id }) => id))
    // skip ids that cannot be part of a path, since such a resource could not be read or deleted
    const missing = portion.filter(({ resource }) => !there.has(resource) && isAddressable(resource))
    try {
      if (missing.length > 0) await this.#make(missing)
    } catch (error) {
      if (!isStoreConflict(error)) throw error
      // another writer created some of them, so create each separately
      for (const each of missing) await this.#make([each]).catch(ignoreExisting)
    }
    if (this.#tenantResources.known.size + portion.length > MAX_KNOWN) this.#tenantResources.known.clear()
    for (const { resource } of portion) this.#tenantResources.known.add(resource)
  }

  async #make(missing: readonly SeenResource[]): Promise<void> {
    const { collections, resources, lastSeen } = this.#tenantResources
    const made = missing.map(({ resource, time, message }) => {
      const record: ResourceRecord = { own: { id: resource, lastMessageTimestamp: time } }
      const change = { kind: 'resource', id: resource, before: undefined, after: record.own, message } as const
      return { record, time, noted: this.#recorder.note({ user: FINDER }, change) }
    })
    const { results } = await collections.commit(
      made.flatMap(({ record, noted }) => [
        collections.resources.putting(record.own.id, record, 'absent'),
        ...noted.writes,
      ]),
    )
    let index = 0
    for (const { record, time, noted } of made) {
      const { id } = record.own
      const version = results[index]
      index += 1 + noted.writes.length
      if (version === undefined) resources.forget(id)
      else resources.put(id, { id, version, value: record })
      lastSeen.written(record.own.id, time)
      noted.publish()
    }
  }
}

function ignoreExisting(error: unknown): void {
  if (!isStoreConflict(error)) throw error
}
