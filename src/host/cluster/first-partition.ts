/** Connects the services and plugs of a tenant's other partitions to its first partition. */
import type { PlugServices } from '#core'
import { type Logger, LruCache, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import type { DeployedPlug } from '#services/functions/contract'
import type { ResourceEntity, SeenResource } from '#services/resources/contract'
import type { FirstServices, PartitionQuestion } from './partition-questions.ts'

export const OF_EACH_PARTITION: ReadonlySet<string> = new Set(['broker', 'rules'])

/** Interval between refreshing the plugs and reporting seen resources, in ms */
const LOOK_MS = 2_000
const MAX_KNOWN = 1_000_000
const MAX_REPORTED = 1_000

export class FirstPartition implements FirstServices {
  readonly resources: FirstServices['resources'] = {
    discover: (seen) => this.#discover(seen),
    lookup: (id) => this.#ask('resources', 'lookup', [id]) as Promise<ResourceEntity | undefined>,
  }
  readonly functions: FirstServices['functions'] = {
    plugs: () => this.#plugs,
    call: (name, version, params) => this.#ask('functions', 'call', [name, version, params, {}]),
  }
  readonly #tenant: string
  readonly #askFirst: (question: PartitionQuestion) => Promise<unknown>
  readonly #logger: Logger
  #plugs: readonly DeployedPlug[] = []
  #written = '[]'
  readonly #known = new LruCache<string, string>(MAX_KNOWN)
  /** Seen since the last report; includes known resources, since these may have been deleted. */
  readonly #recent = new Map<string, SeenResource>()
  #endLooking: () => void = () => undefined
  #looking: Promise<void> | undefined

  constructor(tenant: string, askFirst: (question: PartitionQuestion) => Promise<unknown>, logger: Logger) {
    this.#tenant = tenant
    this.#askFirst = askFirst
    this.#logger = logger
  }

  /** Resolves when the tenant's plugs are known. Rejects while the first partition has no owner. */
  async start(): Promise<void> {
    await this.#readPlugs()
    this.#endLooking = machineTimers.every(LOOK_MS, () => {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    })
  }

  async stop(): Promise<void> {
    this.#endLooking()
    await this.#looking
    await this.#tellHeard().catch(() => undefined)
  }

  ports(own: PlugServices): PlugServices {
    const entries = Object.entries(own as unknown as Readonly<Record<string, object>>)
    const asked = entries.map(([port, methods]) => [port, this.#port(port as keyof PlugServices, methods)])
    return Object.fromEntries(asked) as PlugServices
  }

  #port(port: keyof PlugServices, own: object): object {
    const methods = Object.entries(own).map(([method, local]): readonly [string, unknown] => {
      const isHere = method.startsWith('check') || (port === 'data' && method !== 'command')
      if (isHere) return [method, local]
      return [
        method,
        (...args: readonly unknown[]) => {
          const sent = args.filter((one) => !(one instanceof AbortSignal))
          return this.#askFirst({ of: 'plugs', port, method, args: sent })
        },
      ]
    })
    return Object.fromEntries(methods)
  }

  #ask(service: 'resources' | 'functions', method: 'discover' | 'lookup' | 'plugs' | 'call', args: readonly unknown[]) {
    return this.#askFirst({ of: 'service', service, method, args })
  }

  /** Reports unknown resources before the message is acknowledged, and known ones in periodic batches. */
  #discover(seen: readonly SeenResource[]): Promise<void> | undefined {
    const strangers: SeenResource[] = []
    for (const one of seen) {
      if (this.#known.get(one.resource) === undefined) strangers.push(one)
      else if (this.#recent.size < MAX_KNOWN) this.#recent.set(one.resource, one)
    }
    return strangers.length === 0 ? undefined : this.#report(strangers)
  }

  async #report(seen: readonly SeenResource[]): Promise<void> {
    for (let at = 0; at < seen.length; at += MAX_REPORTED) {
      const some = seen.slice(at, at + MAX_REPORTED)
      await this.#ask('resources', 'discover', [some])
      for (const { resource } of some) this.#known.set(resource, resource)
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#readPlugs()
      await this.#tellHeard()
    } catch (error) {
      this.#logger.warn(`the first partition of ${this.#tenant} did not respond, retrying: ${messageOf(error)}`)
    }
  }

  async #tellHeard(): Promise<void> {
    const recent = [...this.#recent.values()]
    this.#recent.clear()
    await this.#report(recent)
  }

  async #readPlugs(): Promise<void> {
    const plugs = ((await this.#ask('functions', 'plugs', [])) ?? []) as readonly DeployedPlug[]
    const written = JSON.stringify(plugs)
    if (written === this.#written) return
    this.#written = written
    this.#plugs = plugs
  }
}
