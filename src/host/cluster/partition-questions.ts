/**
 * What the partitions of a tenant ask each other. The first one has what is of the whole tenant: resources, alarms,
 * functions, models, webscripts and queries; the others have messages and tasks, and ask it for everything else.
 */
import type { PlugServices } from '#core'
import { AppError } from '#kernel'
import type { InternalFunctions } from '#services/functions/contract'
import type { InternalResources } from '#services/resources/contract'
import { machineTimers } from '#platform'
import type { Partition } from '#cluster'
import type { BrokerQuestion, FollowedPart, FollowedStream } from '#services/broker/contract'
import type { RulesQuestion } from '#services/rules'
import { plugServices } from '../wiring/plug-services.ts'
import { served, type ServiceRegistry } from '../wiring/service-registry.ts'

export interface HostedPartition extends Partition {
  readonly tenant: string
  /** What `answerAt` gives at another partition of the tenant. Rejects as that does; `FENCED` when no host has it. */
  ask(partition: number, question: PartitionQuestion): Promise<unknown>
  /** What is told in another partition of the tenant, as it comes; `FENCED` when no host has it. */
  follow(partition: number, asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart>
  /** Something was handed to that partition. Never waits. */
  handed(partition: number): void
  /** What plugs of this partition call: own ports, or those of the first one. */
  ports(own: PlugServices): PlugServices
  /** what services of this partition ask of the first one; absent: this is the first one */
  readonly first?: FirstServices | undefined
}

export interface FirstServices {
  readonly resources: Pick<InternalResources, 'discover' | 'lookup'>
  readonly functions: Pick<InternalFunctions, 'plugs' | 'call'>
}

/** Plain JSON. */
export type PartitionQuestion =
  | { readonly of: 'rules'; readonly question: RulesQuestion }
  | { readonly of: 'broker'; readonly question: BrokerQuestion }
  /** something was handed to it */
  | { readonly of: 'relay' }
  /** a port that plugs call */
  | {
      readonly of: 'plugs'
      readonly port: keyof PlugServices
      readonly method: string
      readonly args: readonly unknown[]
    }
  /** a method of a service */
  | {
      readonly of: 'service'
      readonly service: 'resources' | 'functions'
      readonly method: (typeof METHODS)[number]
      readonly args: readonly unknown[]
    }

const METHODS = ['discover', 'lookup', 'plugs', 'call'] as const
const KINDS: ReadonlySet<unknown> = new Set<PartitionQuestion['of']>(['rules', 'broker', 'relay', 'plugs', 'service'])

/** Whether it is one: it came from another host. */
export function isPartitionQuestion(value: unknown): value is PartitionQuestion {
  return typeof value === 'object' && value !== null && 'of' in value && KINDS.has(value.of)
}

export async function answerAt(registry: ServiceRegistry, tenant: string, asked: PartitionQuestion): Promise<unknown> {
  switch (asked.of) {
    case 'rules':
      return served(registry.rules).answer(asked.question)
    case 'broker':
      return served(registry.broker).answer(asked.question)
    case 'relay':
      return registry.relay?.wake()
    case 'plugs': {
      const port: unknown = plugServices(tenant, registry, machineTimers.later)[asked.port]
      return call(served(port as object | undefined), asked.method, asked.args)
    }
    case 'service': {
      const service = registry[asked.service]
      if (!METHODS.includes(asked.method)) throw new AppError('INTERNAL', `${asked.method} is asked of no service`)
      // as where there is none: nothing to find, and no plugs
      if (service === undefined && asked.method !== 'call') return undefined
      return call(served(service), asked.method, asked.args)
    }
  }
}

function call(service: object, method: string, args: readonly unknown[]): unknown {
  const member: unknown = Reflect.get(service, method)
  if (typeof member !== 'function') throw new AppError('INTERNAL', `there is no ${method} to call`)
  return Reflect.apply(member, service, args)
}
